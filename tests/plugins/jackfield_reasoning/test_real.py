"""What the real package gives. Needs ``pip install 'jackfield[reasoning]'``; it is skipped without."""

from __future__ import annotations

import numpy as np
import pytest

from jackfield.types import Finish, Rollout, Segment, Task
from jackfield_reasoning.data import ReasoningGym
from jackfield_reasoning.generators import EVALUATES, UNSTEADY
from jackfield_reasoning.score import ReasoningGymScore

pytestmark = pytest.mark.real
gym = pytest.importorskip("reasoning_gym")


def scored(task: Task, answer: str) -> float:
    segment = Segment(tokens=np.array([1]), writer="policy", text=f"<answer>{answer}</answer>")
    verdict = ReasoningGymScore().judge(Rollout(task=task, member=0, segments=(segment,), finish=Finish(reason="eos")))
    assert verdict.kind == "score"
    return verdict.value


def test_sums_checked_by_hand() -> None:
    """The gold answers of addition are the sums, and score 1; others do not."""
    config = {"min_terms": 2, "max_terms": 2, "min_digits": 1, "max_digits": 2}
    for task in ReasoningGym(dataset="chain_sum", config=config, num_test=20).tasks("test"):
        left, sign, right = task.extra["reasoning_gym"]["entry"]["metadata"]["expression"].split()
        assert task.answers == (str(int(left) + int(right) if sign == "+" else int(left) - int(right)),)
        assert scored(task, task.answers[0]) == 1.0
        assert scored(task, "no idea") == 0.0


@pytest.mark.parametrize("name", ["countdown", "puzzle24"])
def test_their_own_solutions_are_right(name: str) -> None:
    """Read without sympy, the package's solutions reach the target with the given numbers."""
    tasks = ReasoningGym(dataset=name, num_test=20).tasks("test")
    assert [scored(task, task.answers[0]) for task in tasks] == [1.0] * len(tasks)


def test_small_generators_do_not_leak() -> None:
    """One-digit sums of two: what is tested is not trained on."""
    data = ReasoningGym(dataset="chain_sum", config={"min_terms": 2, "max_terms": 2, "min_digits": 1, "max_digits": 1})
    train, test = ({task.question for task in data.tasks(split)} for split in ("train", "test"))
    assert train
    assert test
    assert not train & test


def test_the_named_generators_exist() -> None:
    """A renamed generator would slip past the refusals."""
    assert set(gym.factory.DATASETS) >= EVALUATES | UNSTEADY
