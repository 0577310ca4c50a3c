"""What the real package gives. Needs ``pip install 'jackfield[reasoning]'``; it is skipped without."""

from __future__ import annotations

import random

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


@pytest.mark.parametrize("name", ["countdown", "puzzle24", "number_sorting", "syllogism"])
def test_their_own_solutions_are_right(name: str) -> None:
    """Read without sympy, the package's solutions reach the target with the given numbers; other answers that are read or worked out
    here are right as well."""
    tasks = ReasoningGym(dataset=name, num_test=20).tasks("test")
    assert [scored(task, task.answers[0]) for task in tasks] == [1.0] * len(tasks)


def test_syllogisms_are_valid() -> None:
    """V24: no Yes of the data is refuted by a world of up to five things, drawn at random; the package's own are, one in eight."""
    rng = random.Random(0)
    tasks = ReasoningGym(dataset="syllogism", num_test=200).tasks("test")
    entries = [task.extra["reasoning_gym"]["entry"] for task in tasks]
    assert [task.answers[0] for task in tasks] == [entry["answer"] for entry in entries]
    refuted = [any(_refutes(entry["metadata"], rng) for _ in range(400)) for entry in entries]
    assert [entry["answer"] for entry in entries] == ["No" if wrong else "Yes" for wrong in refuted]
    theirs = gym.create_dataset("syllogism", seed=1_000_000_000, size=200)
    asked = {entry["question"]: entry["answer"] for entry in (theirs[number] for number in range(200))}
    assert 10 < sum(asked[entry["question"]] != entry["answer"] for entry in entries) < 40


def _refutes(about: dict[str, str], rng: random.Random) -> bool:
    """A world where every kind has things and both premises hold, but not the conclusion."""
    words = [about[name].split() for name in ("premise1", "premise2", "conclusion")]
    kinds = {word for statement in words for word in (statement[1], statement[-1])}
    world = [{kind for kind in kinds if rng.random() < 0.5} for _ in range(rng.randint(1, 5))]
    if not all(any(kind in thing for thing in world) for kind in kinds):
        return False

    def holds(statement: list[str]) -> bool:
        inside = [statement[-1] in thing for thing in world if statement[1] in thing]
        match statement[0], "not" in statement:
            case "All", _:
                return all(inside)
            case "No", _:
                return not any(inside)
            case _, negated:
                return any(is_in != negated for is_in in inside)

    return holds(words[0]) and holds(words[1]) and not holds(words[2])


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
