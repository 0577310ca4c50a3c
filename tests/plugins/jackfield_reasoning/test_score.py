from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from jackfield.testing.contracts import check_reward
from jackfield.testing.fakes import CharTokenizer
from jackfield.types import Finish, Rollout, Segment, Task, Verdict
from jackfield_reasoning.data import ReasoningGym
from jackfield_reasoning.score import ReasoningGymScore

pytestmark = pytest.mark.usefixtures("package")


def judged(task: Task, *turns: str) -> Verdict:
    segments = [Segment(tokens=np.array([1]), writer="policy", text=turn) for turn in turns]
    return ReasoningGymScore().judge(Rollout(task=task, member=0, segments=tuple(segments), finish=Finish(reason="eos")))


@pytest.fixture
def task() -> Task:
    return ReasoningGym(dataset="counting", num_train=8, num_test=0).tasks("train")[7]


@pytest.mark.parametrize(
    ("turns", "value", "parsed"),
    [
        (("<think>8?</think><answer> 7 </answer>",), 1.0, "7"),
        (("<answer>8</answer><answer>7</answer>",), 1.0, "7"),
        (("<answer>It is 7</answer>",), 0.25, "It is 7"),
        (("<answer>8</answer>",), 0.0, "8"),
        (("<answer>7</answer> or <answer>8",), 1.0, "7"),
        (("<answer>7</answer> so</answer>",), 1.0, "7"),
        (("7",), 0.0, None),
        (("<answer>", "7</answer>"), 0.0, None),
        ((f"<answer>{'7' * 20_000}</answer>",), 0.0, "7" * 10_000),
    ],
)
def test_scores(task: Task, turns: tuple[str, ...], value: float, parsed: str | None) -> None:
    """What the scorer says of the last complete answer of one turn, given the entry as it was generated; none is 0."""
    verdict = judged(task, *turns)
    assert (verdict.kind, verdict.value, verdict.parsed) == ("score", value, parsed)


def test_countdown_is_read_here(task: Task) -> None:
    """Not by the package's scorer, which would run the answer."""
    entry: dict[str, Any] = {"question": "?", "answer": "", "metadata": {"numbers": [3, 4], "target": 12}}
    countdown = evolve(task, extra={"reasoning_gym": {"dataset": "countdown", "config": {}, "entry": entry}})
    assert judged(countdown, "<answer>3 * 4</answer>").value == 1.0
    assert judged(countdown, "<answer>6 * 2</answer>").value == 0.0


def test_sorting_is_read_here(task: Task) -> None:
    """V22: not by the package's scorer, which lets numbers be off by 1."""
    entry: dict[str, Any] = {
        "question": "?",
        "answer": "",
        "metadata": {"original_numbers": ["3.5", "1.0"], "direction": "ascending"},
    }
    sorting = evolve(task, extra={"reasoning_gym": {"dataset": "number_sorting", "config": {}, "entry": entry}})
    assert judged(sorting, "<answer>['1', '3.5']</answer>").value == 1.0
    assert judged(sorting, "<answer>['1', '3.6']</answer>").value == 0.0


def test_scorers_that_run_the_answer_are_refused() -> None:
    """Before the run, by name; and no verdict is given all the same."""
    task = ReasoningGym(dataset="n_queens", num_test=1).tasks("test")[0]
    assert "run the answer as Python" in (ReasoningGymScore().check_task(task, CharTokenizer()) or "")
    assert judged(task, "<answer>print(1)</answer>").kind == "abstain"


def test_other_data_is_abstained_from(task: Task) -> None:
    """A run may mix its data."""
    other = evolve(task, extra={})
    assert judged(other, "<answer>7</answer>").kind == "abstain"
    assert ReasoningGymScore().check_task(other, CharTokenizer()) is None


def test_contract() -> None:
    """Judges anything."""
    check_reward(ReasoningGymScore())
