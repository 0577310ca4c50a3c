from __future__ import annotations

from pathlib import Path

import pytest

from jackfield.types import Task
from jackfield_pythonlings.data import Pythonlings, family_heads


def test_families() -> None:
    """Exercises that define one name belong together, through others too; those that define nothing stand alone."""
    names = {"d": {"greet"}, "b": {"greet", "add"}, "c": {"add"}, "e": set[str](), "a": {"square"}, "f": {"square"}}
    heads = family_heads({exercise: frozenset(own) for exercise, own in names.items()})
    assert heads == {"d": "b", "b": "b", "c": "b", "e": "e", "a": "a", "f": "a"}


def test_tasks(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Statement and program in the question, tests apart, the solution only on request; both exercises on `double` on one side."""
    monkeypatch.setattr("jackfield_pythonlings.data.fetch", lambda requirement, sha256: wheel)
    sides = [Pythonlings().tasks(split) for split in ("train", "test")]
    assert sorted(map(len, sides)) == [0, 2]
    split = "train" if sides[0] else "test"
    task: Task = max(sides, key=len)[0]
    assert task.id == f"pythonlings/{split}-functions3"
    assert task.question == "Define `double` so that\n  it doubles.\n\n```python\ndef double():\n    return n * 2\n```"
    assert task.extra == {"tests": "assert double(3) == 6, 'twice'\nresult = double(0)\nassert result == 0"}
    assert (task.labels, task.recorded) == ({"topic": "functions"}, ())
    solved = Pythonlings(solutions=True).tasks(split)[0]  # type: ignore[arg-type]
    assert solved.recorded == (("```python\ndef double(n):\n    return n * 2\n```",),)
