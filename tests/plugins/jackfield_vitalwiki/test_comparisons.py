from __future__ import annotations

import pytest

from jackfield_vitalwiki.articles import Article
from jackfield_vitalwiki.comparisons import PAIRS, area_comparisons, birth_comparisons
from jackfield_vitalwiki.factbook import Country
from jackfield_vitalwiki.people import Person
from jackfield_vitalwiki.questions import Question, split_of
from jackfield_vitalwiki.sources import Date

BORN = {f"Writer {n}": 1700 + n // 2 for n in range(60)}


@pytest.fixture
def births() -> list[Question]:
    def person(name: str, year: int) -> Person:
        article = Article(id=f"wiki-{name[7:]}", title=name, description=f"poet (born {year})", lead="", topic="People")
        return Person(article=article, aliases=(name,), birth=Date(year, 1, 1), death=None)

    return list(birth_comparisons({name: person(name, year) for name, year in BORN.items()}))


def test_the_earlier_is_right_and_years_lie_apart(births: list[Question]) -> None:
    """The answer is the one born first, by at least three years."""
    assert births
    for question in births:
        one, other = question.entities
        assert question.answers == (min(one, other, key=BORN.__getitem__),)
        assert abs(BORN[one] - BORN[other]) >= 3
        assert question.text == f"Who was born first, {one} or {other}?"


def test_both_lie_on_one_side_of_the_split(births: list[Question]) -> None:
    """Pairs are drawn within a split, up to the quota of each."""
    assert all(len({split_of(entity) for entity in q.entities}) == 1 for q in births)
    assert sum(q.split == "train" for q in births) == PAIRS["train"]
    assert 0 < sum(q.split == "test" for q in births) <= PAIRS["test"]


def test_neither_position_is_more_often_right(births: list[Question]) -> None:
    """Which of the two is named first tells nothing."""
    share = sum(q.answers[0] == q.entities[0] for q in births) / len(births)
    assert 0.35 < share < 0.65


def test_areas_must_be_comparable() -> None:
    """Nearly equal, hopelessly unequal and tiny countries are not compared."""
    sizes = {"A": 1_000, "B": 10_000, "C": 11_000, "D": 30_000, "E": 900_000}
    names = {letter: next(f"{letter}{n}" for n in range(100) if split_of(f"{letter}{n}") == "train") for letter in sizes}
    countries = [
        Country(code=f"z{letter}", name=names[letter], document={"Geography": {
            "Location": {"text": "somewhere in the middle of a long sea"}, "Area": {"total": {"text": f"{size:,} sq km"}}}})
        for letter, size in sizes.items()
    ]  # fmt: skip
    found = {frozenset(q.entities): q.answers[0] for q in area_comparisons(countries)}
    assert found == {frozenset({names["B"], names["D"]}): names["D"], frozenset({names["C"], names["D"]}): names["D"]}
