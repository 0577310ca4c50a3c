"""Verdicts are data: an abstention leaves one source out, an error leaves the rollout out, neither is ever 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from jackfield.corridor import Named
from jackfield.reward import score
from jackfield.step import scorable
from jackfield.types import Finish, Group, Rollout, Segment, Task, Verdict

TASK = Task(id="t", prompt=())


def group(*texts: str, finish: str = "answer") -> Group[Rollout]:
    members = tuple(
        Rollout(
            task=TASK,
            member=i,
            segments=(Segment(tokens=np.array([1, 2]), writer="policy", text=text),),
            finish=Finish(reason=finish),  # type: ignore[arg-type]
        )
        for i, text in enumerate(texts)
    )
    return Group(id="0/0", task=TASK, members=members)


class ByText:
    """The text says what to do."""

    def judge(self, rollout: Rollout) -> Verdict:
        text = rollout.completion
        if text == "crash":
            raise RuntimeError("boom")
        if text == "skip":
            return Verdict.abstain("not applicable")
        return 3.0 if text == "float" else Verdict.score(float(text))  # type: ignore[return-value]


class AlwaysOne:
    async def judge(self, rollout: Rollout) -> Verdict:
        return Verdict.score(1.0)


def rewards(*parts: tuple[str, object, float]) -> list[Named]:
    return [Named(name=n, part=p, weight=w) for n, p, w in parts]


def test_weighted_sum_with_abstentions() -> None:
    """R1: a source that abstains is left out for that rollout; the others count as usual."""
    [scored] = score([group("0.5", "skip")], rewards(("a", ByText(), 2.0), ("b", AlwaysOne(), 0.1)))
    assert [r.reward for r in scored] == pytest.approx([1.1, 0.1])
    assert scored.members[1].verdicts["a"].kind == "abstain"


def test_a_crash_costs_one_rollout() -> None:
    """R4: the error is recorded with what happened, and the group goes on with its survivors."""
    [scored] = score([group("1", "crash", "0")], rewards(("a", ByText(), 1.0)))
    assert [r.reward for r in scored] == [1.0, None, 0.0]
    assert scored.members[1].verdicts["a"].reason == "RuntimeError: boom"
    assert [len(g) for g in scorable([scored], 2)] == [2]
    assert scorable([scored], 3) == []


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_scores_that_are_no_numbers_are_errors(value: str) -> None:
    """R3: nan and inf never reach a mean."""
    [scored] = score([group(value)], rewards(("a", ByText(), 1.0)))
    assert scored.members[0].reward is None
    assert value in scored.members[0].verdicts["a"].reason


def test_a_bare_float_is_refused_with_what_to_write() -> None:
    """A verdict is not a float."""
    [scored] = score([group("float")], rewards(("a", ByText(), 1.0)))
    assert "Verdict.score(3.0)" in scored.members[0].verdicts["a"].reason


def test_all_abstain_is_no_reward_and_no_source_is_zero() -> None:
    """Nothing applied: no reward. Nothing asked (SFT): 0."""
    assert score([group("skip")], rewards(("a", ByText(), 1.0)))[0].members[0].reward is None
    assert score([group("x")], [])[0].members[0].reward == 0.0


def test_failed_rollouts_are_not_judged() -> None:
    """A failure of the environment is not a wrong answer."""
    [scored] = score([group("1", finish="failed")], rewards(("a", ByText(), 1.0)))
    assert scored.members[0].reward is None
    assert scored.members[0].verdicts == {}


class AtOnce:
    """Judges all rollouts of a step together, badly if told so."""

    def __init__(self, wrong: str = "") -> None:
        self.wrong = wrong
        self.calls: list[int] = []

    async def judge_all(self, rollouts: Sequence[Rollout]) -> Sequence[Verdict]:
        self.calls.append(len(rollouts))
        if self.wrong == "crash":
            raise RuntimeError("boom")
        verdicts = [Verdict.score(float(r.completion)) for r in rollouts]
        return verdicts[1:] if self.wrong == "short" else verdicts


def test_a_source_may_judge_all_at_once() -> None:
    """One call a step, for all rollouts that did not fail, in their order."""
    source = AtOnce()
    scored = score([group("1", "0.5"), group("9", finish="failed"), group("0")], rewards(("a", source, 1.0)))
    assert source.calls == [3]
    assert [[r.reward for r in g] for g in scored] == [[1.0, 0.5], [None], [0.0]]


@pytest.mark.parametrize(
    ("wrong", "reason"), [("crash", "RuntimeError: boom"), ("short", "judge_all() gave 1 verdicts for 2 rollouts")]
)
def test_judging_all_at_once_fails_for_all(wrong: str, reason: str) -> None:
    """A crash, or another number of verdicts than rollouts, is an error for every rollout: nobody's verdict is guessed."""
    [scored] = score([group("1", "0")], rewards(("a", AtOnce(wrong), 1.0), ("b", AlwaysOne(), 1.0)))
    assert [(r.reward, r.verdicts["a"].reason) for r in scored] == [(None, reason)] * 2


def test_progress_counts_verdicts() -> None:
    """It ends at the number of verdicts asked for, whoever judges how."""
    told: list[tuple[int, int]] = []
    score([group("1", "0")], rewards(("a", AtOnce(), 1.0), ("b", AlwaysOne(), 1.0)), lambda *done: told.append(done))
    assert told[-1] == (4, 4)


def test_a_shut_gate_leaves_the_gates_alone() -> None:
    """Format before correctness: where the gate scores 0 or less, the other sources do not count; where it abstains or scores, they do."""
    gate = Named(name="gate", part=ByText(), weight=1.0, gate=True)
    [scored] = score([group("0", "0.5", "-1", "skip")], [gate, *rewards(("b", AlwaysOne(), 2.0))])
    assert [r.reward for r in scored] == [0.0, 2.5, -1.0, 2.0]


class ByTurn:
    """A point a turn, and one more for the end."""

    def judge(self, rollout: Rollout) -> Verdict:
        return Verdict.score(3.0, turns=(1.0, 1.0))


def test_rewards_of_turns_are_weighted_and_summed() -> None:
    """Only sources that say how their score is made up of turns count here; None if none did."""
    [scored] = score([group("1")], rewards(("a", ByTurn(), 0.5), ("b", AlwaysOne(), 1.0)))
    assert (scored.members[0].reward, scored.members[0].turn_rewards) == (2.5, (0.5, 0.5))
    [scored] = score([group("1")], rewards(("b", AlwaysOne(), 1.0)))
    assert scored.members[0].turn_rewards is None
    with pytest.raises(ValueError, match="the score is nan"):
        Verdict.score(1.0, turns=(float("nan"),))
