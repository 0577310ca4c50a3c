from __future__ import annotations

from pathlib import Path

import pytest

from jackfield.types import Message
from jackfield_champ.build import load_problems
from jackfield_champ.data import Champ, ChampPairs, ChampSteps
from jackfield_champ.split import held_out


@pytest.fixture
def split(cache: Path) -> str:
    """Where the tiny package's only problem fell."""
    return "test" if held_out(load_problems()) else "train"


def test_plain_tasks(split: str) -> None:
    """The bare problem with its gold answer, on one side only."""
    other = "train" if split == "test" else "test"
    [task] = Champ().tasks(split)  # type: ignore[arg-type]
    assert task.prompt == (Message(role="user", content="How many red hats fit into a box?"),)
    assert (task.id, task.answers, task.recorded) == (f"champ/{split}-Sequence_1", ("12",), ())
    assert Champ().tasks(other) == []  # type: ignore[arg-type]


def test_pairs(split: str) -> None:
    """The right answer first with scores 1 and 0; by one author, each answer once, unless the recipe says otherwise."""

    def pairs(**keys: object) -> list[tuple[str, str]]:
        tasks = ChampPairs(**keys).tasks(split)  # type: ignore[arg-type]
        assert len({task.id for task in tasks}) == len(tasks)
        assert all(task.extra["scores"] == [1.0, 0.0] for task in tasks)
        return [(task.recorded[0][0], task.recorded[1][0]) for task in tasks]

    [(right, wrong)] = pairs()
    assert right == "12 fit."
    assert wrong in ("Step 1: 13.", "Hinted: 14.")
    assert sorted(pairs(uses=2)) == [("12 fit.", "Hinted: 14."), ("12 fit.", "Step 1: 13.")]
    assert sorted(pairs(uses=9, same_author=False)) == [
        ("12 fit.", "Hinted: 14."), ("12 fit.", "It is 16."), ("12 fit.", "Step 1: 13."),
    ]  # fmt: skip
    assert pairs(unaided=True) == [("12 fit.", "Step 1: 13.")]
    assert pairs(longest=10) == []


def test_labelled_steps(cache: Path) -> None:
    """A solution in paragraphs with their labels, of a problem that need not have a number for an answer; ids that no key changes."""
    tasks = [task for side in ("train", "test") for task in ChampSteps().tasks(side)]  # type: ignore[arg-type]
    assert [task.id.split("-")[1] for task in tasks] == ["000", "001"]
    first, second = tasks
    assert first.prompt == (Message(role="user", content="Is it so?"),)
    assert first.recorded == (("Let x = 2.\n\n", "Then x² = 4.\nSo x³ = 9.\n \n", "It is 9."),)
    assert first.extra == {"step_labels": ((1.0, 0.0, 0.0),), "authors": ["A"]}
    assert (second.recorded, second.extra["step_labels"]) == ((("It is not.",),), ((1.0,),))
    for keys in ({"longest": 12}, {"most_steps": 2}):
        short = [task for side in ("train", "test") for task in ChampSteps(**keys).tasks(side)]  # type: ignore[arg-type]
        assert short == [second]
