"""Questions whose answer no passage says: its numbers must be searched for, and then calculated with.

They are made of what the passages say, so that a search can find every number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from attrs import frozen

from jackfield.types import Passage
from jackfield_vitalwiki.factbook import with_article
from jackfield_vitalwiki.questions import Question, split_of
from jackfield_vitalwiki.text import draw, rank

MOST_OF_A_RELATION = {"train": 240, "test": 80}
YOUNGEST = 16
"""Years: no earlier age is asked for."""

_DATES = re.compile(r"Born on \d+ \w+ (?P<birth>\d+)\.(?: Died on \d+ \w+ (?P<death>\d+)\.)?")
_AREA = re.compile(r"Total area: ([\d,]+) sq km")
_PEAK = re.compile(r"Highest point: ([^\d:]* [\d,]+ m\b)[^\d:]*\. [A-Z][\w ]+:")
"""Only where no other number is told beside it."""
_NOT_ASKED = ("ay", "ee", "gz", "mo", "tw", "we", "wi", "xx")
"""Of the factbook's codes: the world, a union, Antarctica, and land in dispute, Morocco's area with it."""


@frozen(kw_only=True)
class Calculation:
    """A question with the way to its answer: a query for each of its passages, then an expression of the numbers found there."""

    question: Question
    queries: tuple[str, ...]
    expression: str


@frozen(kw_only=True)
class Number:
    """Something of which a passage tells a number. ``query`` finds that passage."""

    name: str
    value: int
    passage_id: str
    query: str

    @property
    def in_a_sentence(self) -> str:
        return with_article(self.name) if self.passage_id.startswith("factbook-") else self.name


def calculations(passages: Iterable[Passage]) -> dict[str, list[Calculation]]:
    """Those of each split, in a fixed mixed order, no relation too frequent. All things that a question is about are on one side."""
    kept: dict[str, list[Calculation]] = {"train": [], "test": []}
    counts: Counter[tuple[str, str]] = Counter()
    for calculation in sorted(_all([*passages]), key=lambda c: rank("order", c.question.text)):
        split, relation = calculation.question.split or "", calculation.question.relation
        if split and counts[split, relation] < MOST_OF_A_RELATION[split]:
            counts[split, relation] += 1
            kept[split].append(calculation)
    return kept


def _all(passages: list[Passage]) -> Iterator[Calculation]:
    births, deaths = _years(passages)
    areas = _geography(passages, _AREA, "total area")
    peaks = _geography(passages, _PEAK, "highest point")
    for name, death in deaths.items():
        birth = births[name]
        if death.value - birth.value > YOUNGEST:
            age = draw(range(YOUNGEST, death.value - birth.value), "age", name)
            yield _calculation(
                "turned", f"In what year did {name} turn {age}?", [birth], f"{birth.value} + {age}", birth.value + age
            )
        text = f"How many years lie between the birth year and the death year of {name}?"
        yield _difference("lifespan", text, [birth], death.value, birth.value)
    for one, other in _neighbours(births, lambda low, high: high - low >= 2):
        text = f"How many years lie between the birth years of {one.name} and {other.name}?"
        yield _difference("apart", text, [one, other], *_larger_first(one, other))
    for one, other in _neighbours(areas, lambda low, high: low >= 1000 and high <= 50 * low):
        text = f"What is the total area of {one.in_a_sentence} and {other.in_a_sentence} together, in square kilometres?"
        yield _calculation("area", text, [one, other], f"{one.value} + {other.value}", one.value + other.value)
    for one, other in _neighbours(peaks, lambda low, high: high - low >= 50):
        high, low = sorted((one, other), key=lambda peak: -peak.value)
        text = f"By how many metres is the highest point of {high.in_a_sentence} above that of {low.in_a_sentence}?"
        yield _difference("peak", text, [high, low], high.value, low.value)


def _years(passages: Iterable[Passage]) -> tuple[dict[str, Number], dict[str, Number]]:
    """Years of birth and of death by name; only people whose name needs no bracket to tell them from others."""
    births, deaths = {}, {}
    for passage in passages:
        name = passage.title.removesuffix(" (dates)")
        if name != passage.title and "(" not in name and (told := _DATES.search(passage.text)):
            births[name] = Number(name=name, value=int(told["birth"]), passage_id=passage.id, query=name)
            if told["death"]:
                deaths[name] = Number(name=name, value=int(told["death"]), passage_id=passage.id, query=name)
    return births, deaths


def _geography(passages: Iterable[Passage], pattern: re.Pattern[str], what: str) -> dict[str, Number]:
    found = {}
    for passage in passages:
        source, code, *section = passage.id.split("-")
        if source == "factbook" and section == ["geography"] and code not in _NOT_ASKED and (told := pattern.search(passage.text)):
            name = passage.title.removesuffix(" (Geography)")
            found[name] = Number(name=name, value=int(re.sub(r"\D", "", told[1])), passage_id=passage.id, query=f"{name} {what}")
    return found


def _neighbours(numbers: dict[str, Number], fit: Callable[[int, int], bool]) -> Iterator[tuple[Number, Number]]:
    """Pairs of one side of the split whose numbers fit, each thing in at most two of them."""
    for split in MOST_OF_A_RELATION:
        side = sorted((name for name in numbers if split_of(name) == split), key=lambda name: rank("neighbours", name))
        for one, other in pairwise(numbers[name] for name in side):
            if fit(min(one.value, other.value), max(one.value, other.value)):
                yield one, other


def _larger_first(one: Number, other: Number) -> tuple[int, int]:
    return max(one.value, other.value), min(one.value, other.value)


def _difference(relation: str, text: str, about: list[Number], larger: int, smaller: int) -> Calculation:
    return _calculation(relation, text, about, f"{larger} - {smaller}", larger - smaller)


def _calculation(relation: str, text: str, about: list[Number], expression: str, value: int) -> Calculation:
    question = Question(
        relation=f"calculated.{relation}",
        text=text,
        answers=(str(value), f"{value:,}") if value >= 1000 and relation != "turned" else (str(value),),
        supporting=tuple(number.passage_id for number in about),
        entities=tuple(number.name for number in about),
    )
    return Calculation(question=question, queries=tuple(number.query for number in about), expression=expression)
