"""What can be asked of a country with one clear answer: capital, currency, highest point, internet code, language, independence.

Each reader gives the answer and its aliases, the preferred one first, or () where the factbook is silent, unclear or out of date.
"""

from __future__ import annotations

import re

from jackfield_vitalwiki.factbook import Country
from jackfield_vitalwiki.questions import read_date
from jackfield_vitalwiki.sources import Date
from jackfield_vitalwiki.text import distinct, unaccented, words

_NO_CAPITAL = (
    "is", "tw", "bl", "sf", "wz", "ce", "bn", "iv", "my", "nr",  # disputed, or shared between two or three cities
    "by", "bm", "ek", "kz",  # moved or renamed of late
    "mn", "sm", "sn", "vt",  # the same as the country
    "ax", "dx", "io",  # military bases
)  # fmt: skip
_CAPITALS = {
    "Asuncion": ("Asunción",), "Chisinau": ("Chișinău", "Kishinev"), "Lome": ("Lomé",), "Nuku'alofa": ("Nukuʻalofa",),
    "Reykjavik": ("Reykjavík",), "Saint George's": ("St. George's",), "Saint John's": ("St. John's",), "Sanaa": ("Sana'a",),
    "Sao Tome": ("São Tomé",), "Tarawa": ("South Tarawa",), "Ulaanbaatar": ("Ulan Bator",), "Yaounde": ("Yaoundé",),
    "Washington, D.C.": ("Washington", "Washington DC"), "Kyiv": ("Kiev",),
}  # fmt: skip

_NO_HIGHEST_POINT = ("aa", "da", "it", "mh", "nl")
"""Overseas peaks or several candidates."""
_SHARED_PEAK = ("cg", "ch", "gv", "iv", "li", "np", "ug")
"""The peak stands on a border and is another country's highest too, under the same or another name."""
_MOUNTAIN = r"^(?:Mount|Monts?|Mt\.?|Pico|Cerro|Pic|Jabal|Jebel|Monte|Volcan|Nevado) "

_NO_LANGUAGE = ("mx", "uk", "us")
"""Languages that are not official by law, or official in a part."""

_RULERS = {
    "UK": ("United Kingdom", "UK", "Britain", "Great Britain", "British Empire"),
    "US": ("United States", "US", "USA", "United States of America"),
    "Soviet Union": ("Soviet Union", "USSR"),
} | {
    name: (name,)
    for name in (
        "Australia", "Belgium", "Brazil", "Denmark", "Ethiopia", "France", "Indonesia", "Italy", "Malaysia", "Netherlands",
        "New Zealand", "Pakistan", "Portugal", "South Africa", "Spain", "Sudan",
    )
}  # fmt: skip


def capital(country: Country) -> tuple[str, ...]:
    """The capital and its other names; nothing where there is none, more than one, or the factbook only describes it."""
    told = country.text("Government", "Capital", "name")
    if country.code in _NO_CAPITAL or not told:
        return ()
    first = re.split(r";| in Romanian", told)[0]
    name = re.sub(r"\s*\(.*?\)", "", first).strip()
    if "," in name and name != "Washington, D.C.":
        return ()
    bracketed = [part for bracket in re.findall(r"\(([A-Z][^()]+?)\)", first) for part in bracket.split(", ")]
    others = [part for part in bracketed if not re.search(r"\b(?:on|located|city|is)\b", part)]
    return distinct([name, unaccented(name), *others, *_CAPITALS.get(unaccented(name), ())])


def highest_point(country: Country) -> tuple[str, ...]:
    """The highest point and its other names; nothing where there are several, or it is unnamed or told in another way."""
    told = country.text("Geography", "Elevation", "highest point")
    if country.code in _NO_HIGHEST_POINT or country.is_union or "unnamed" in told or "note" in told:
        return ()
    peak = re.fullmatch(r"([A-ZÀ-Ý][\w'’.\-/ À-ÿ]+?)(?: \(([^()]+)\))? [\d,]+(?:\.\d+)? ?m?", told)
    if peak is None or re.search(r"\b(?:km|tee|border|post|NE|SW|ocean|dunes)\b", peak[1], re.IGNORECASE):
        return ()
    name, other = peak[1].strip(), peak[2] or ""
    alone = re.split(r" on | of the ", name)[0]
    names = [name, *name.split("/"), other if re.fullmatch(r"[A-Z][\w'’\- ]+", other) and "highest" not in other else ""]
    names += [alone, *alone.split("/"), re.sub(_MOUNTAIN, "", alone)]
    return tuple(name for name in distinct(names) if len(name) > 2 and not name[0].islower())


def peak_key(country: Country) -> str:
    """What tells the country's highest point from those of others; "" if it must not stand for the country."""
    peak = highest_point(country)
    if not peak or country.code in _SHARED_PEAK or "/" in peak[0]:
        return ""
    return words(re.sub(_MOUNTAIN, "", unaccented(re.split(r" on | of the ", peak[0])[0])))


def internet_code(country: Country) -> tuple[str, ...]:
    """The country's top-level domain, with and without its dot."""
    told = country.text("Communications", "Internet country code")
    return (told, told[1:]) if re.fullmatch(r"\.[a-z]{2}", told) else ()


def language(country: Country) -> tuple[str, ...]:
    """The official language, where there is exactly one."""
    told = country.text("People and Society", "Languages", "Languages")
    official = re.match(r"([A-Z][a-z]+) (?:[\d.]+% )?\(official\)", told)
    return (official[1],) if official and told.count("official") == 1 and country.code not in _NO_LANGUAGE else ()


def independence(country: Country) -> tuple[Date, tuple[str, ...]] | None:
    """The day, and the names of the state it was gained from."""
    told = country.text("Government", "Independence")
    gained = re.fullmatch(r"(\d{1,2}) ([A-Z][a-z]+) (\d{4}) \(from (?:the )?([A-Z][A-Za-z ]+)\)", told)
    if gained is None or gained[4] not in _RULERS:
        return None
    date = read_date(gained[1], gained[2], gained[3])
    return (date, _RULERS[gained[4]]) if date else None


def area(country: Country) -> float | None:
    """Square kilometres."""
    told = re.match(r"([\d,.]+)( million)? sq km", country.text("Geography", "Area", "total"))
    return float(told[1].replace(",", "")) * (1e6 if told[2] else 1) if told else None
