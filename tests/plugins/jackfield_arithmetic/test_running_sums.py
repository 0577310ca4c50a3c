"""Chains of additions, exactly labelled."""

from __future__ import annotations

import re

import pytest

from jackfield.testing.fakes import CharTokenizer
from jackfield.types import Task
from jackfield_arithmetic.running_sums import RunningSums
from jackfield_process.labels import StepLabels


def additions(task: Task) -> list[tuple[int, int, int]]:
    """Read back from the steps."""
    found = [re.fullmatch(r"(\d+) \+ (\d+) = (\d+)\n?", step) for step in task.recorded[0]]
    return [(int(m[1]), int(m[2]), int(m[3])) for m in found if m]


@pytest.mark.parametrize("split", ["train", "test"])
def test_labels_say_what_is_so(split: str) -> None:
    """A step is right exactly if its sum is; it goes on from where the one before it came; only the last has no line end."""
    tasks = RunningSums(num_train=200, num_test=200).tasks(split)  # type: ignore[arg-type]
    for task in tasks:
        steps, [labels] = additions(task), task.extra["step_labels"]
        assert len(steps) == len(labels) == 3
        assert [float(a + b == c) for a, b, c in steps] == list(labels)
        assert [a for a, _, _ in steps[1:]] == [c for _, _, c in steps[:-1]]
        numbers = [steps[0][0], *(b for _, b, _ in steps)]
        assert task.question == f"Add the numbers one by one: {', '.join(map(str, numbers))}"
        assert task.answers == (str(sum(numbers)),)
        assert all(c > 0 for _, _, c in steps)
        assert [step.endswith("\n") for step in task.recorded[0]] == [True, True, False]
        assert StepLabels().check_task(task, CharTokenizer()) is None
    share = sum(label for task in tasks for label in task.extra["step_labels"][0]) / (3 * len(tasks))
    assert share == pytest.approx(0.6, abs=0.06)


def test_the_splits_share_no_addition() -> None:
    """In neither order of its terms."""
    train, test = (
        {tuple(sorted((a, b))) for task in RunningSums().tasks(split) for a, b, _ in additions(task)}  # type: ignore[arg-type]
        for split in ("train", "test")
    )
    assert len(train) > 100
    assert len(test) > 25
    assert not train & test


def test_how_many_steps_and_how_many_wrong() -> None:
    """All right, or all wrong; two numbers are one step."""
    for wrong, label in ((0.0, 1.0), (1.0, 0.0)):
        for task in RunningSums(terms=2, wrong=wrong, num_test=50).tasks("test"):
            assert task.extra["step_labels"] == ((label,),)
    assert [len(t.recorded[0]) for t in RunningSums(terms=7, num_test=3).tasks("test")] == [6, 6, 6]


def test_more_tasks_leave_the_first_as_they_are() -> None:
    """A task is the same in every run."""
    assert RunningSums(num_train=5).tasks("train") == RunningSums(num_train=9).tasks("train")[:5]
    assert len({t.id for t in RunningSums().tasks("train")}) == 2000
