"""Labels that the data brings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jackfield.testing.contracts import check_reward
from jackfield.testing.fakes import CharTokenizer
from jackfield.types import Finish, Rollout, Segment, Task
from jackfield_process.labels import StepLabels

ATTEMPTS = (("a", "b", "c"), ("d",))


def task(labels: Any) -> Task:
    return Task(
        id="t", prompt=(), recorded=ATTEMPTS, extra={} if labels is None else {"step_labels": labels}, origin="rows.jsonl:7"
    )


def played(labels: Any, *, member: int = 0, steps: int = 3) -> Rollout:
    said = tuple(Segment(tokens=np.ones(2, np.int64), writer="policy", text="x") for _ in range(steps))
    prompt = Segment(tokens=np.ones(2, np.int64), writer="task")
    return Rollout(task=task(labels), member=member, segments=(prompt, *said), finish=Finish(reason="eos"))


def test_every_step_has_its_label() -> None:
    """Those of the attempt that this member plays, as the rewards of its turns; the score is their sum."""
    verdict = StepLabels().judge(played([[1, 0, 0.25], [1]]))
    assert verdict.turns == (1.0, 0.0, 0.25)
    assert verdict.value == 1.25
    assert verdict.reason == "1 of 3 steps are right"
    assert StepLabels().judge(played([[1, 0, 0.25], [0.75]], member=1, steps=1)).turns == (0.75,)


def test_no_labels_is_no_judgement() -> None:
    """Of an attempt without labels the source abstains, naming the row."""
    for labels, member in ((None, 0), ([[1, 0, 0]], 1)):
        verdict = StepLabels().judge(played(labels, member=member))
        assert (verdict.kind, verdict.reason) == ("abstain", f"rows.jsonl:7 has no labels of attempt {member + 1}")


def test_an_attempt_that_was_not_played_to_its_end_is_an_error() -> None:
    """Its labels would be read at other steps."""
    verdict = StepLabels().judge(played([[1, 0, 0.25], [1]], steps=2))
    assert verdict.kind == "error"
    assert verdict.reason == "rows.jsonl:7: 2 steps of attempt 1 were played, which has 3 labels"


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        (None, "has no step_labels"),
        ([1, 0, 1], "must be a list of numbers for every recorded attempt"),
        ("110", "must be a list of numbers for every recorded attempt"),
        ([[1, 0, 1]], "has step_labels of 1 attempts, but 2 are recorded"),
        ([[1, 0], [1]], "attempt 1 has 2 labels for 3 steps"),
        ([[1, 0, 1], [2]], "attempt 2: the label of step 1 is 2; expected a number from 0 to 1"),
        ([[1, "yes", float("nan")], [1]], "attempt 1: the label of step 2 is 'yes', step 3 is nan; expected"),
    ],
)
def test_rows_that_do_not_fit_are_told_before_the_run(labels: Any, problem: str) -> None:
    """With the attempt and the step."""
    found = StepLabels().check_task(task(labels), CharTokenizer())
    assert found is not None
    assert problem in found


def test_rows_that_fit() -> None:
    """True and False are labels too."""
    assert StepLabels().check_task(task([[True, False, 0.5], [1]]), CharTokenizer()) is None


def test_sampled_steps_have_no_recorded_labels() -> None:
    """They would be judged by what the data says of others."""
    found = [
        StepLabels().check_recipe(SimpleNamespace(engine=SimpleNamespace(samples=samples)))  # type: ignore[arg-type]
        for samples in (False, True)
    ]
    assert found == [[], ['has labels of recorded attempts, and this engine samples others; write [engine] use = "recorded"']]


def test_contract() -> None:
    """Anything may be judged."""
    check_reward(StepLabels())
