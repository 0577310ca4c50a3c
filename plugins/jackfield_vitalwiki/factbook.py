"""Countries of the World Factbook: names, and their passages section by section.

A document nests sections, fields and ``{"text": …}`` leaves; keys may have stray spaces and capitals, texts tags and entities.
Codes are the factbook's own (``gm`` is Germany), not those of ISO.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from attrs import field, frozen

from jackfield.types import Passage
from jackfield_vitalwiki.text import clean, distinct, unaccented

LONGEST_PASSAGE = 170
"""Words."""
SHORTEST_SECTION = 40
"""Characters; a shorter section is left out."""

_NAMES = {
    "ae": "United Arab Emirates", "bm": "Myanmar", "cf": "Republic of the Congo", "cg": "Democratic Republic of the Congo",
    "ct": "Central African Republic", "dr": "Dominican Republic", "ee": "European Union", "fk": "Falkland Islands",
    "fm": "Federated States of Micronesia", "io": "British Indian Ocean Territory", "iv": "Ivory Coast", "kn": "North Korea",
    "ks": "South Korea", "sh": "Saint Helena, Ascension, and Tristan da Cunha", "sv": "Svalbard",
    "um": "United States Pacific Island Wildlife Refuges", "vt": "Vatican City", "xx": "World",
}  # fmt: skip
"""Where the short form is missing, too long or not the usual name."""

_ALIASES = {
    "ae": ("UAE",), "bf": ("Bahamas",), "bm": ("Burma",), "cf": ("Congo (Brazzaville)", "Congo"), "cg": ("DR Congo", "DRC"),
    "ch": ("People's Republic of China",), "cv": ("Cape Verde",), "ei": ("Republic of Ireland",), "ez": ("Czech Republic",),
    "ga": ("Gambia",), "iv": ("Cote d'Ivoire", "Côte d'Ivoire"), "ks": ("Republic of Korea", "Korea"), "mk": ("Macedonia",),
    "nl": ("Holland", "The Netherlands"), "rs": ("Russian Federation",), "tt": ("East Timor",), "tu": ("Türkiye",),
    "uk": ("UK", "U.K.", "Great Britain", "Britain"), "us": ("United States of America", "USA", "US", "U.S."), "vt": ("Holy See",),
    "wz": ("Swaziland",),
}  # fmt: skip

_UNIONS = ("ee", "xx")
_DISPUTED = ("ay", "gz", "tw", "we", "wi")
"""Antarctica, the Palestinian territories, Taiwan, Western Sahara: nothing is asked about them as states."""

_WITH_ARTICLE = (
    "United", "Netherlands", "Philippines", "Maldives", "Central", "Czech", "Dominican", "Democratic", "Republic", "Federated",
    "Soviet", "Marshall", "Solomon", "Comoros", "Seychelles", "Cayman", "Faroe", "Falkland",
)  # fmt: skip


@frozen
class Field:
    """A line of a passage: its label, and where its text stands (the first of the paths that has one)."""

    label: str
    paths: tuple[tuple[str, ...], ...]


def _fields(section: str, **places: str | tuple[str, ...]) -> tuple[Field, ...]:
    """Label (with _ for spaces) → path inside the section, "/" between keys; several are alternatives."""
    alternatives = {label: (where,) if isinstance(where, str) else where for label, where in places.items()}
    return tuple(
        Field(label.replace("_", " "), tuple((section, *path.split("/")) for path in paths))
        for label, paths in alternatives.items()
    )


SECTIONS: Mapping[str, tuple[str, tuple[Field, ...]]] = {
    "background": ("Background", _fields("Introduction", Background="Background")),
    "geography": (
        "Geography",
        _fields(
            "Geography",
            Location="Location",
            Total_area="Area/total",
            Land_boundaries="Land boundaries/border countries",
            Coastline="Coastline",
            Highest_point="Elevation/highest point",
            Lowest_point="Elevation/lowest point",
            Climate="Climate",
            Terrain="Terrain",
            Natural_resources="Natural resources",
        ),
    ),
    "people": (
        "People and society",
        _fields(
            "People and Society",
            Population="Population/total",
            Languages=("Languages/Languages", "Languages"),
            Religions="Religions",
            Ethnic_groups="Ethnic groups",
            Major_urban_areas="Major urban areas - population",
            Life_expectancy="Life expectancy at birth/total population",
        ),
    ),
    "government": (
        "Government",
        _fields(
            "Government",
            Conventional_long_form="Country name/conventional long form",
            Capital="Capital/name",
            Government_type="Government type",
            Independence="Independence",
            National_holiday="National holiday",
            Legal_system="Legal system",
            National_symbol="National symbol(s)",
            National_anthem=("National anthem(s)/title", "National anthem/name"),
            Administrative_divisions="Administrative divisions",
        ),
    ),
    "economy": (
        "Economy",
        _fields(
            "Economy",
            Currency="Exchange rates/Currency",
            GDP="GDP (official exchange rate)",
            Industries="Industries",
            Agricultural_products="Agricultural products",
            Export_partners="Exports - partners",
            Export_commodities="Exports - commodities",
            Import_partners="Imports - partners",
        ),
    ),
    "communications": (
        "Communications, transport and military",
        _fields("Communications", Internet_country_code="Internet country code", Broadcast_media="Broadcast media")
        + _fields("Transportation", Railways="Railways/total", Airports="Airports", Ports="Ports/key ports")
        + _fields("Military and Security", Military_forces="Military and security forces"),
    ),
}


@frozen(kw_only=True, slots=False)
class Country:
    """Example: ``Country(code="fr", name="France", document={"Geography": …})``"""

    code: str
    name: str
    document: Mapping[str, Any] = field(repr=False)

    def text(self, *path: str) -> str:
        """The text at a path of keys, clean; "" if there is none. A field of several leaves gives them all, with their keys."""
        node: Any = self.document
        for key in path:
            node = next((v for k, v in node.items() if k.strip().lower() == key.lower()), "") if isinstance(node, Mapping) else ""
        if isinstance(node, Mapping) and "text" not in node:
            leaves = ((k, v) for k, v in node.items() if isinstance(v, Mapping) and "text" in v)
            return "; ".join(f"{key.strip()} {clean(leaf['text'])}" for key, leaf in leaves)
        text = node["text"] if isinstance(node, Mapping) else node
        return clean(text) if isinstance(text, str) else ""

    @property
    def is_state(self) -> bool:
        return not self.text("Government", "Dependency status") and self.code not in _UNIONS + _DISPUTED

    @property
    def is_union(self) -> bool:
        return self.code in _UNIONS

    @cached_property
    def aliases(self) -> tuple[str, ...]:
        """The name in use first, then others and the long form, each with and without accents."""
        long_form = self.text("Government", "Country name", "conventional long form")
        usable = long_form.lower() != "none" and len(long_form) < 45
        names = [self.name, *_ALIASES.get(self.code, ()), long_form if usable else ""]
        return distinct([*names, *map(unaccented, names)])

    @property
    def in_a_sentence(self) -> str:
        """``"the Netherlands"``, ``"France"``."""
        return with_article(self.name)

    @cached_property
    def passages(self) -> Mapping[str, Passage]:
        """Section → passage, for the sections that say something."""
        texts = {section: self._section(fields) for section, (_, fields) in SECTIONS.items()}
        return {
            section: Passage(
                id=f"factbook-{self.code}-{section}",
                title=f"{self.name} ({SECTIONS[section][0]})",
                text=f"{self.name}. {_shorten(text)}",
            )
            for section, text in texts.items()
            if len(text) >= SHORTEST_SECTION
        }

    def _section(self, fields: tuple[Field, ...]) -> str:
        told = [(f.label, next((text for path in f.paths if (text := self.text(*path))), "")) for f in fields]
        if len(fields) == 1:
            return told[0][1]
        return " ".join(f"{label}: {_tidy(label, text)}." for label, text in told if text and text.lower() != "none")


def read_countries(factbook: Mapping[str, Mapping[str, Any]]) -> dict[str, Country]:
    """Code → country, for all documents that name one (oceans have no name)."""
    countries = {}
    for code, document in sorted(factbook.items()):
        unnamed = Country(code=code, name="", document=document)
        name = _NAMES.get(code) or unnamed.text("Government", "Country name", "conventional short form")
        if len(name) > 2 and name.lower() != "none":
            countries[code] = Country(code=code, name=name, document=document)
    return countries


def with_article(name: str) -> str:
    """A country's name within a sentence: ``the Bahamas``, ``France``."""
    if name.startswith("The "):
        return f"the {name[4:]}"
    return f"the {name}" if name.split()[0] in _WITH_ARTICLE else name


def _tidy(label: str, text: str) -> str:
    if label == "Currency":
        text = re.sub(r" per US dollar.*", "", text)
    return text.rstrip(". ")


def _shorten(text: str) -> str:
    words = text.split()
    return text if len(words) <= LONGEST_PASSAGE else " ".join(words[:LONGEST_PASSAGE]) + " ..."
