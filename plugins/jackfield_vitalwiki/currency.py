"""Names of currencies, from the factbook's plurals ("Polish zlotych (PLN) per US dollar -")."""

from __future__ import annotations

import re

from jackfield_vitalwiki.factbook import Country
from jackfield_vitalwiki.text import distinct, unaccented

_UNCERTAIN = ("bu", "zi", "sl", "gk", "tv", "nn", "cc", "uc", "vt", "we")
"""Changed since the factbook was written, or more than one in use."""

_SINGULAR = {
    "colones": "colon", "emalangeni": "lilangeni", "koruny": "koruna", "kroner": "krone", "kronor": "krona", "kronur": "krona",
    "lei": "leu", "leke": "lek", "maloti": "loti", "meticais": "metical", "quetzales": "quetzal", "reals": "real", "zlotych": "zloty",
}  # fmt: skip
_WIDESPREAD = (
    "dinar", "dirham", "dollar", "escudo", "franc", "guilder", "krona", "krone", "leu", "manat", "peso", "pound", "real", "rial",
    "riyal", "ruble", "rupee", "shilling", "won", "yuan",
)  # fmt: skip
"""Units of several states: the bare word is no answer."""

_FRANCS = {"Communaute": "West African CFA franc", "Cooperation": "Central African CFA franc"}
_ALIASES = {
    "ae": ("United Arab Emirates dirham",), "bk": ("convertible mark", "Bosnia and Herzegovina convertible mark"),
    "br": ("Brazilian real",), "ch": ("renminbi", "yuan", "Chinese yuan", "RMB", "yuan renminbi"), "kg": ("Kyrgyzstani som",),
    "la": ("Lao kip",), "pe": ("Peruvian sol", "sol"), "pl": ("złoty", "Polish złoty"), "sa": ("Saudi riyal",),
    "tp": ("São Tomé and Príncipe dobra",), "tx": ("Turkmen manat", "Turkmenistan manat"), "uk": ("pound sterling", "sterling"),
    "uz": ("so'm", "Uzbekistani so'm", "sum"), "vm": ("đồng", "Vietnamese đồng"), "ws": ("Samoan tālā",),
    "xcd": ("Eastern Caribbean dollar", "EC dollar"),
}  # fmt: skip


def currency(country: Country) -> tuple[str, ...]:
    """The currency's name and its aliases, the singular first; () where it is not certain."""
    told = re.match(r"([^()]+?) (?:\([A-Z/]{2,7}\) )?per US dollar", country.text("Economy", "Exchange rates", "Currency"))
    if told is None or country.code in _UNCERTAIN or re.search(r"[/]| or ", told[1]):
        return ()
    plural = told[1]
    *before, unit = plural.split()
    for word, name in _FRANCS.items():
        if word in unaccented(plural):
            return name, f"{name}s", "CFA franc", "CFA francs", plural
    single = _SINGULAR.get(unit, unit.removesuffix("s"))
    names = [" ".join([*before, single]), *_ALIASES.get("xcd" if plural.startswith("East Caribbean") else country.code, ())]
    if single not in _WIDESPREAD:
        names += [single, unit]
    if not before and single != "euro":
        names.append(_national(country, single))
    return tuple(name for name in distinct([*names, plural]) if name not in _WIDESPREAD or name == "yuan")


def _national(country: Country, unit: str) -> str:
    """``"Thai baht"``, if the factbook has a plain adjective for the nation. Not for shared currencies: there is no Nauruan dollar."""
    adjective = country.text("People and Society", "Nationality", "adjective")
    return f"{adjective} {unit}" if re.fullmatch(r"[A-Z][a-z]+", adjective) else ""
