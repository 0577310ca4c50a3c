"""Cities, buildings and sites: in which country they are, and on to that country's facts.

The country is read from the end of the description ("City in Bavaria, Germany"). Descriptions that also fit things of the past,
events or institutions are left out: the Paris Commune is located in no country.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from jackfield_vitalwiki.articles import Article
from jackfield_vitalwiki.countries import CAPITAL, CURRENCY, HIGHEST_POINT, INTERNET_CODE, bridged
from jackfield_vitalwiki.country_facts import capital
from jackfield_vitalwiki.factbook import Country
from jackfield_vitalwiki.questions import Question, ask
from jackfield_vitalwiki.text import words

_KIND = re.compile(
    r"\b(?:city|town|metropolis|municipality|capital of|museums?|palace|university|mosque|temple|bridge|tower|cathedral|castle|church"
    r"|basilica|monastery|mausoleum|airport|stadium|fortress|citadel|archaeological site|monument|building|skyscraper|opera house"
    r"|theatre|theater|library|square)\b",
    re.IGNORECASE,
)
_BUILT = re.compile(r"university|bridge|tower|building", re.IGNORECASE)
_NOT_A_PLACE_NOW = re.compile(
    r"\b(?:ancient|former|fictional|mythical|historical|disputed|occupied|between|company|chain|council|government|party|club|team"
    r"|festival|massacre|siege|battle|protest|riot|uprising|revolution|artwork|painting|school of|style|movement|bombing|attack"
    r"|disaster|fire|form of)\b",
    re.IGNORECASE,
)
_DIRECTIONS = re.compile(
    r"^(?:(?:(?:north|south|east|west)(?:ern|-central)?|(?:north|south)(?:east|west)ern|central|(?:modern|present)(?:-day)?|upper|lower|the)"
    r"[ -])+",
    re.IGNORECASE,
)
_FEW_PLACES = ("People", "Society and social sciences", "Technology")
"""Topics whose articles are places only if they are buildings."""
_UNASKED = ("is", "gz", "tw", "we")
"""Countries whose borders are disputed."""
_PARTS = ("Northern Ireland", "Northern Cyprus")
"""Not parts of the country they are named after, or not by everybody's account."""
_CAPITALS = frozenset(
    words(city)
    for city in (
        "Jerusalem", "La Paz", "Sucre", "Pretoria", "Cape Town", "Bloemfontein", "Colombo", "Abidjan", "Yamoussoukro", "Porto-Novo",
        "Cotonou", "Yangon", "Rangoon", "Naypyidaw", "Kuala Lumpur", "Putrajaya", "Bujumbura", "Gitega", "Valparaíso", "The Hague",
    )
)  # fmt: skip
"""Capitals of a kind that ``capital`` leaves out; a question about them would be about a capital."""


def place_questions(articles: Mapping[str, Article], countries: Mapping[str, Country]) -> Iterator[Question]:
    """In which country a place lies, and facts about that country (two hops)."""
    by_name = _by_name(countries.values())
    capitals = _CAPITALS | {words(city) for country in countries.values() if country.is_state for city in capital(country)}
    for title, article in articles.items():
        country = _country(article, by_name)
        if country is None or words(title) in capitals:
            continue
        wordings = ("In which country is {} located?", "{} is located in which country?")
        yield ask("place.country", wordings, title, country.aliases, [article.id], country.name, crowd=country.code)
        described = (f"the country where {title} is located", f"the country in which {title} is located")
        facts = (CAPITAL, CURRENCY, HIGHEST_POINT, INTERNET_CODE)
        yield from bridged("place", described, article.id, country, facts, crowd=country.code)


def _by_name(countries: Iterable[Country]) -> dict[str, Country]:
    named: dict[str, Country] = {}
    for country in countries:
        for alias in () if country.is_union else country.aliases:
            named.setdefault(alias, country)
    return named


def _country(article: Article, by_name: Mapping[str, Country]) -> Country | None:
    """Where the article's subject is; None if it is no place of today, or names its country in its title."""
    title, description = article.title, article.description
    if re.search(r"[(,]", title) or not _KIND.search(description) or _NOT_A_PLACE_NOW.search(description):
        return None
    if article.topic in _FEW_PLACES and not _BUILT.search(description):
        return None
    where = re.search(r"\b(?:in|of)\b ([^()]+)$", description)
    if where is None:
        return None
    country = _named(where[1].split(",")[-1].strip(), by_name)
    if country is None or country.code in _UNASKED or country.text("Government", "Dependency status"):
        return None
    return None if any(words(alias) in words(title) for alias in country.aliases) else country


def _named(where: str, by_name: Mapping[str, Country]) -> Country | None:
    """The country of ``"South Africa"``, ``"southern India"`` or ``"the Republic of Ireland"``; a part that is no such country has none."""
    if where in _PARTS:
        return None
    part_of = _DIRECTIONS.sub("", where)
    names = (where, part_of, re.split(r" in | of ", part_of)[-1].strip())
    return next((by_name[name] for name in names if name in by_name), None)
