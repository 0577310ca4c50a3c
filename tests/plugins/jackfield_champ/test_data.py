from __future__ import annotations

from pathlib import Path

import pytest

from jackfield.types import Message
from jackfield_champ.build import load_problems
from jackfield_champ.data import Champ, ChampPairs
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
