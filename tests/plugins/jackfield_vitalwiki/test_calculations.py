"""Questions that need searching and then arithmetic."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from jackfield.types import Passage
from jackfield_vitalwiki.calculations import MOST_OF_A_RELATION, Calculation, calculations
from jackfield_vitalwiki.demonstrations import demonstrate_calculation
from jackfield_vitalwiki.questions import split_of


def lived(name: str, birth: int, death: int | None = None) -> Passage:
    died = f" Died on 1 May {death}." if death else ""
    return Passage(id=f"dates-{name}", title=f"{name} (dates)", text=f"{name}, poet. Born on 2 March {birth}.{died}")


def land(code: str, name: str, area: str, peak: str) -> Passage:
    text = f"{name}. Location: there. Total area: {area}. Highest point: {peak}. Lowest point: Sea 0 m. Climate: mild."
    return Passage(id=f"factbook-{code}-geography", title=f"{name} (Geography)", text=text)


PEOPLE = [lived(f"Poet {n}", 1700 + 3 * n, 1760 + 3 * n if n % 4 else None) for n in range(40)]
LANDS = [
    land(
        f"c{n}",
        "Netherlands" if n == 7 else f"Land {n}",
        f"{n + 2},000 sq km (land {n} sq km)",
        f"Mount A. Hill (a peak) {n + 1},100 m",
    )
    for n in range(40)
]


def asked(passages: list[Passage]) -> list[Calculation]:
    return [c for kept in calculations(passages).values() for c in kept]


def value(calculation: Calculation) -> int:
    """An independent reading of the expression."""
    left, sign, right = calculation.expression.split()
    return int(left) + int(right) if sign == "+" else int(left) - int(right)


def test_the_answer_is_the_expressions_value_and_its_numbers_stand_in_the_passages() -> None:
    """Every number of the expression is told by a passage, but for the age, which the question tells."""
    passages = {p.id: p.text.replace(",", "") for p in (*PEOPLE, *LANDS)}
    found = asked([*PEOPLE, *LANDS])
    assert {c.question.relation.removeprefix("calculated.") for c in found} == {"turned", "lifespan", "apart", "area", "peak"}
    for c in found:
        assert c.question.answers[0] == str(value(c))
        assert value(c) > 0
        told = " ".join([c.question.text, *(passages[i] for i in c.question.supporting)])
        assert all(re.search(rf"\b{number}\b", told) for number in re.findall(r"\d+", c.expression)), c
        assert not re.search(rf"\b{value(c)}\b", c.question.text)


def test_one_of_each_by_hand() -> None:
    """Two people, two countries of one side of the split."""
    poets = [name for name in (f"Poet {n}" for n in range(9)) if split_of(name) == "train"][:2]
    lands = [name for name in (f"Land {n}" for n in range(9)) if split_of(name) == "train"][:2]
    passages = [
        lived(poets[0], 1700, 1770),
        lived(poets[1], 1750),
        land("aa", lands[0], "2,000 sq km", "Mount One 1,500 m"),
        land("bb", lands[1], "30,500 sq km", "Mount Two 400 m"),
    ]
    by_relation = {c.question.relation.removeprefix("calculated."): c for c in asked(passages)}
    age = int(by_relation["turned"].question.text.split()[-1].rstrip("?"))
    assert 16 <= age < 70
    told = {name: (c.question.answers, c.expression) for name, c in by_relation.items()}
    assert told == {
        "turned": ((str(1700 + age),), f"1700 + {age}"),
        "lifespan": (("70",), "1770 - 1700"),
        "apart": (("50",), "1750 - 1700"),
        "area": (("32500", "32,500"), told["area"][1]),
        "peak": (("1100", "1,100"), "1500 - 400"),
    }
    assert told["area"][1] in ("2000 + 30500", "30500 + 2000")
    assert by_relation["peak"].question.text == (f"By how many metres is the highest point of {lands[0]} above that of {lands[1]}?")


def test_what_it_is_about_is_on_one_side() -> None:
    """No name is asked about in both splits; a pair lies on one side."""
    found = calculations([*PEOPLE, *LANDS])
    for split, kept in found.items():
        assert kept
        assert all(split_of(entity) == split for c in kept for entity in c.question.entities)


@pytest.mark.parametrize(
    "passage",
    [
        lived("Anon (poet)", 1700, 1770),
        lived("Child", 1700, 1716),
        land("xx", "World", "510,072 sq km", "Mount Everest 8,849 m"),
        land("aa", "Vast", "1.2 million sq km", "unnamed"),
        land("aa", "Split", "1.2 million sq km", "Mount One (5 m from the border) 2,000 m"),
    ],
)
def test_what_is_not_asked(passage: Passage) -> None:
    """A name with a bracket, an age below 16, the world, a number that is not told in digits."""
    assert not [c for c in asked([passage, *PEOPLE, *LANDS]) if passage.id in c.question.supporting and "lifespan" not in c.question.relation
                and "apart" not in c.question.relation]  # fmt: skip


def test_the_order_of_passages_is_no_matter_and_no_relation_too_frequent() -> None:
    """The same in every run."""
    many = [lived(f"Poet {n}", 1000 + n, 1060 + n) for n in range(600)]
    forwards, backwards = calculations(many), calculations(many[::-1])
    assert forwards == backwards
    for split, kept in forwards.items():
        assert max(Counter(c.question.relation for c in kept).values()) == MOST_OF_A_RELATION[split]


def test_a_demonstration_calls_both_tools() -> None:
    """A search a number, the expression, the answer."""
    [c] = [c for c in asked([*PEOPLE, *LANDS]) if "the Netherlands" in c.question.text and "area" in c.question.text][:1]
    first, second = c.queries
    assert "Netherlands total area" in c.queries
    assert demonstrate_calculation(c) == (
        f"<search> {first} </search>",
        f"<search> {second} </search>",
        f"<calculator> {c.expression} </calculator>",
        f"<answer> {value(c)} </answer>",
    )
