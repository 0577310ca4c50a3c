"""Which of two came first or is larger: both passages must be read, and neither leads to the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from jackfield_vitalwiki.country_facts import area
from jackfield_vitalwiki.factbook import Country
from jackfield_vitalwiki.people import Person
from jackfield_vitalwiki.questions import Question, split_of
from jackfield_vitalwiki.text import distinct, rank
from jackfield_vitalwiki.works import Work

TRADES = (
    r"novelist|writer|author|poet|playwright|dramatist",
    r"composer",
    r"painter|artist",
    r"physicist|chemist|biologist|mathematician|astronomer|naturalist",
    r"film director|filmmaker",
    r"philosopher",
)
"""Only people of one trade are compared."""
PAIRS = {"train": 60, "test": 20}
"""Of one trade; three times as many of works of one kind and of countries."""
_AREA_UNCLEAR = ("mo",)
"""With or without Western Sahara."""


def birth_comparisons(people: Mapping[str, Person]) -> Iterator[Question]:
    """Who of two people of one trade was born first, if the years are at least 3 apart."""
    for trade in TRADES:
        peers = [p for p in people.values() if p.birth and re.search(trade, p.article.description)]
        years = {p.article.title: p.birth.year for p in peers if p.birth}
        for one, other in _pairs(years, {title: title for title in years}, lambda a, b: abs(a - b) >= 3, times=1):
            earlier = min(one, other, key=years.__getitem__)
            yield Question(
                relation="compare.birth",
                text=f"Who was born first, {people[one].article.name} or {people[other].article.name}?",
                answers=people[earlier].aliases,
                supporting=(people[one].article.id, people[other].article.id),
                entities=(one, other),
            )


def work_comparisons(works: Sequence[Work]) -> Iterator[Question]:
    """Which of two films or novels came out first, if the years are at least 2 apart."""
    for noun, came_out in (("film", "released"), ("novel", "published")):
        dated = {work.article.title: work for work in works if work.noun == noun and work.year}
        years = {title: work.year for title, work in dated.items() if work.year}
        makers = {title: work.maker.article.title for title, work in dated.items()}
        for one, other in _pairs(years, makers, lambda a, b: abs(a - b) >= 2, times=3):
            name = dated[min(one, other, key=years.__getitem__)].article.name
            yield Question(
                relation="compare.work_year",
                text=f"Which {noun} was {came_out} first, {dated[one].article.name} or {dated[other].article.name}?",
                answers=distinct([name, re.sub(r"^(?:The|An?) ", "", name)]),
                supporting=(dated[one].article.id, dated[other].article.id),
                entities=(makers[one], makers[other]),
            )


def area_comparisons(countries: Sequence[Country]) -> Iterator[Question]:
    """Neither tiny nor nearly equal nor hopelessly unequal."""
    by_name = {c.name: c for c in countries if c.code not in _AREA_UNCLEAR and "geography" in c.passages}
    areas = {name: size for name, c in by_name.items() if (size := area(c)) and size >= 5000}
    for one, other in _pairs(areas, {name: name for name in areas}, lambda a, b: 1.2 <= max(a, b) / min(a, b) <= 8, times=3):
        yield Question(
            relation="compare.area",
            text=f"Which country has the larger total area, {by_name[one].in_a_sentence} or {by_name[other].in_a_sentence}?",
            answers=by_name[max(one, other, key=areas.__getitem__)].aliases,
            supporting=(by_name[one].passages["geography"].id, by_name[other].passages["geography"].id),
            entities=(one, other),
        )


def _pairs(
    sizes: Mapping[str, float], entities: Mapping[str, str], fit: Callable[[float, float], bool], *, times: int
) -> Iterator[tuple[str, str]]:
    """Names whose sizes fit and whose entities lie on one side of the split. Which are taken, and which is named first, tells nothing."""
    for split, most in PAIRS.items():
        side = [name for name in sizes if split_of(entities[name]) == split]
        fitting = [(one, other) for one, other in combinations(sorted(side), 2) if fit(sizes[one], sizes[other])]
        for one, other in sorted(fitting, key=_mixed)[: times * most]:
            yield (one, other) if _mixed((other, one)) % 2 else (other, one)


def _mixed(pair: tuple[str, str]) -> int:
    return rank("pair", *pair)
