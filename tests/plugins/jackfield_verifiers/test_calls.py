"""What tool calls are worth."""

from __future__ import annotations

import numpy as np
import pytest

from jackfield.types import Call, Finish, FinishReason, Rollout, Segment, Task
from jackfield_verifiers.calls import ToolCalls


def rollout(*turns: tuple[Call, ...], finish: FinishReason = "answer") -> Rollout:
    """One turn of the policy for each entry, with the calls it made, and an observation after each."""
    segments = [Segment(tokens=np.ones(2, np.int64), writer="task")]
    for calls in turns:
        segments += [
            Segment(tokens=np.ones(3, np.int64), writer="policy", text="x", calls=calls),
            Segment(tokens=np.ones(2, np.int64), writer="environment", text="y"),
        ]
    return Rollout(task=Task(id="t", prompt=()), member=0, segments=tuple(segments), finish=Finish(reason=finish))


def search(text: str, failure: str | None = None) -> Call:
    return Call(tool="search", text=text, failure=failure)


def sums(text: str, failure: str | None = None) -> Call:
    return Call(tool="calculator", text=text, failure=failure)


def test_every_call_counts_at_its_turn() -> None:
    """Two tools that succeed, one that fails and is then mended, an answer without a call: 0.5, −0.25, 0.5, 0."""
    verdict = ToolCalls(reward=0.5, cost=0.25).judge(
        rollout((search("a"),), (sums("1 / 0", failure="division by zero"),), (sums("1 / 2"),), ())
    )
    assert verdict.turns == (0.5, -0.25, 0.5, 0.0)
    assert verdict.value == 0.75
    assert verdict.reason == "search; calculator failed; calculator"
    assert verdict.extras == {"repeated": 0.0}


def test_calling_on_and_on_does_not_pay() -> None:
    """Of one tool ``most`` successes are rewarded; a repetition costs, whether it succeeds or not."""
    calls = [(search("a"),), (search("b"),), (search("a"),), (search("c"),)]
    assert ToolCalls(reward=0.5, cost=0.25).judge(rollout(*calls)).turns == (0.5, 0.0, -0.25, 0.0)
    verdict = ToolCalls(reward=0.5, cost=0.25, most=2).judge(rollout(*calls))
    assert verdict.turns == (0.5, 0.5, -0.25, 0.0)
    assert verdict.extras == {"repeated": 1.0}


def test_a_failure_is_no_success() -> None:
    """It uses up no reward, and repeating it is one cost, not two."""
    verdict = ToolCalls(reward=0.5, cost=0.25).judge(
        rollout((sums("x", failure="?"),), (sums("x", failure="?"),), (sums("1 + 1"),))
    )
    assert verdict.turns == (-0.25, -0.25, 0.5)


def test_several_calls_of_a_turn_add_up() -> None:
    """Also the same text to two tools, which is no repetition."""
    calls = (search("1 + 1"), sums("1 + 1"), sums("?", failure="?"))
    assert ToolCalls(reward=0.5, cost=0.25).judge(rollout(calls)).turns == (0.75,)


def test_the_call_that_made_a_loop_costs() -> None:
    """It was not run, so it is among nobody's calls: the last turn made it."""
    verdict = ToolCalls(reward=0.5, cost=0.25).judge(rollout((search("a"),), (search("a"),), (), finish="tool_loop"))
    assert verdict.turns == (0.5, -0.25, -0.25)
    assert verdict.extras == {"repeated": 2.0}


@pytest.mark.parametrize("turns", [(), ((),)])
def test_no_calls_are_worth_nothing(turns: tuple[tuple[Call, ...], ...]) -> None:
    """0, not an abstention: a policy that never calls is compared with one that does."""
    verdict = ToolCalls().judge(rollout(*turns))
    assert (verdict.kind, verdict.value, verdict.reason) == ("score", 0.0, "no calls")
    assert verdict.turns == (0.0,) * len(turns)
