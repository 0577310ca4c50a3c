"""Scores that the data brings along."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jackfield.types import Finish, Rollout, Segment, Task
from jackfield_preference.preferred import Preferred


def task(**extra: Any) -> Task:
    """A task with two recorded attempts."""
    return Task(id="t/1", prompt=(), recorded=(("good",), ("bad",)), extra=extra, origin="train.jsonl:7")


def rollout(of: Task, member: int) -> Rollout:
    """What member ``member`` played."""
    segment = Segment(tokens=np.zeros(1, np.int64), writer="policy", text="good")
    return Rollout(task=of, member=member, segments=(segment,), finish=Finish(reason="eos"))


def test_every_attempt_has_its_score() -> None:
    """Member m is judged by score m, whatever it wrote."""
    verdicts = [Preferred().judge(rollout(task(scores=[1.0, 0]), member)) for member in (0, 1)]
    assert [(v.kind, v.value) for v in verdicts] == [("score", 1.0), ("score", 0.0)]


@pytest.mark.parametrize("extra", [{}, {"scores": []}, {"scores": [1.0]}])
def test_no_score_is_an_abstention(extra: dict[str, Any]) -> None:
    """Never a score of 0; the reason names the row and the attempt."""
    verdict = Preferred().judge(rollout(task(**extra), 1))
    assert verdict.kind == "abstain"
    assert verdict.reason == "train.jsonl:7 has no score of attempt 2"


def test_rows_are_checked_before_anything_loads() -> None:
    """D1: what is missing or of a wrong kind is said, all of it at once."""
    nan = float("nan")
    for extra, message in [
        ({"scores": [1.0, 0]}, None),
        ({"scores": (np.float32(0.5), 2)}, None),
        ({}, "has no scores of its recorded attempts"),
        ({"scores": 1.0}, "scores must be a list of numbers, found 1.0"),
        ({"scores": "10"}, "scores must be a list of numbers, found '10'"),
        ({"scores": [1.0]}, "has 1 scores for 2 recorded attempts"),
        ({"scores": [True, nan]}, "score 1 is True, score 2 is nan; expected finite numbers"),
        ({"scores": [1.0, None]}, "score 2 is None; expected finite numbers"),
    ]:
        assert Preferred().check_task(task(**extra), None) == message


def test_sampled_attempts_have_no_recorded_scores() -> None:
    """They would be judged by what the data says of others."""
    found = [
        Preferred().check_recipe(SimpleNamespace(engine=SimpleNamespace(samples=samples)))  # type: ignore[arg-type]
        for samples in (False, True)
    ]
    assert found == [[], ['has scores of recorded attempts, and this engine samples others; write [engine] use = "recorded"']]
