from __future__ import annotations

import numpy as np
import pytest

from jackfield.testing.contracts import check_reward
from jackfield.types import Finish, Rollout, Segment, Task, Verdict
from jackfield_verifiers.pattern import Regex


def rollout(text: str) -> Rollout:
    segments = (
        Segment(tokens=np.arange(1), writer="task", text="Paris"),
        Segment(tokens=np.arange(1), writer="policy", text=text),
    )
    return Rollout(task=Task(id="t", prompt=()), member=0, segments=segments, finish=Finish(reason="eos"))


def test_matches() -> None:
    """Anywhere or as a whole, in all the policy wrote or in its answer, never in the prompt."""
    assert Regex(pattern=r"\d+").judge(rollout("in 1889.")) == Verdict.score(1.0, "matches", "1889")
    assert Regex(pattern=r"\d+", match="full").judge(rollout("in 1889.")) == Verdict.score(0.0, "no match")
    assert Regex(pattern="(?i)paris").judge(rollout("Lyon")).value == 0
    answered = Regex(pattern=r"\d+", match="full", answer_tag="answer")
    assert answered.judge(rollout("Well, <answer> 1889 </answer>")).value == 1
    assert answered.judge(rollout("1889")).reason == "no <answer>…</answer> in the completion"


def test_a_search_that_never_ends_is_an_error() -> None:
    """S10: an expression that backtracks for ever is stopped, and that is no score."""
    verdict = Regex(pattern="(a|aa)+$", seconds=0.2).judge(rollout("a" * 100 + "b"))
    assert verdict == Verdict.error("the pattern took more than 0.2 s on 101 characters")


def test_bad_patterns_are_refused() -> None:
    """With what is wrong."""
    with pytest.raises(ValueError, match="pattern: is no regular expression: missing"):
        Regex(pattern="(a")


def test_contract() -> None:
    """Judges anything quickly."""
    check_reward(Regex(pattern=r"(?i)\bparis\b"))
