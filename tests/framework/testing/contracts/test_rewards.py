"""The check of rewards finds the fault it is for: a source that breaks one promise, and no other, is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from jackfield.testing.contracts import check_reward
from jackfield.types import Rollout, Verdict


class Judge:
    """A reward made of a function."""

    def __init__(self, judge: Callable[[Rollout], Any]) -> None:
        self._judge = judge

    def judge(self, rollout: Rollout) -> Any:
        return self._judge(rollout)


async def patient(rollout: Rollout) -> Verdict:
    await asyncio.sleep(0)
    return Verdict.score(1.0)


def by_turn(rollout: Rollout) -> Verdict:
    turns = [float(len(s.text)) for s in rollout.segments if s.writer == "policy"]
    return Verdict.score(sum(turns), turns=tuple(turns))


@pytest.mark.parametrize(
    "judge", [lambda r: Verdict.score(len(r.completion)), lambda r: Verdict.abstain("no rule"), patient, by_turn]
)
def test_good_rewards_pass(judge: Callable[[Rollout], Any]) -> None:
    """Scores, also by turn, abstentions with a reason and asynchronous judges are sound."""
    check_reward(Judge(judge))


@pytest.mark.parametrize(
    ("judge", "found"),
    [
        (lambda r: 1.0, "not a Verdict"),
        (lambda r: None, "not a Verdict"),
        (lambda r: Verdict.score(float("nan")), "the score is nan"),
        (lambda r: Verdict.score(1.0, share=float("inf")), "extras are not finite"),
        (lambda r: Verdict.abstain(""), "without a reason"),
        (lambda r: Verdict.error("no server"), "no server"),
        (lambda r: Verdict.score(r.task.answers[0] in r.completion), "judging raised IndexError"),
        (lambda r: Verdict.score("Paris" in "".join(s.text for s in r.segments)), "did not write"),
        (lambda r: Verdict.score(len(r.tokens)), "did not write"),
        (lambda r: Verdict.score(1.0, turns=(0.5, 0.5)), "2 turns have a score, 0 were written"),
    ],
)
def test_bad_rewards_are_found(judge: Callable[[Rollout], Any], found: str) -> None:
    """A bare float, what is not finite, a crash, an error, reading the prompt by its text or its tokens, and turns that were not."""
    with pytest.raises(AssertionError, match=found):
        check_reward(Judge(judge))


class Remembering:
    """Less for what was said before."""

    def __init__(self) -> None:
        self.heard: list[Rollout] = []

    def judge(self, rollout: Rollout) -> Verdict:
        new = not any(rollout is earlier for earlier in self.heard)
        self.heard.append(rollout)
        return Verdict.score(float(new))


class AtOnce(Judge):
    """Judges all of a step by ``judge_all``."""

    def __init__(self, judge_all: Callable[[Sequence[Rollout]], Any]) -> None:
        super().__init__(lambda r: Verdict.score(len(r.completion)))
        self.judge_all = judge_all


def one_by_one(rollouts: Sequence[Rollout]) -> list[Verdict]:
    return [Verdict.score(len(r.completion)) for r in rollouts]


def ranked(rollouts: Sequence[Rollout]) -> list[Verdict]:
    order = sorted(rollouts, key=lambda r: len(r.completion))
    return [Verdict.score(order.index(r)) for r in rollouts]


def in_another_order(rollouts: Sequence[Rollout]) -> list[Verdict]:
    return one_by_one(rollouts)[::-1]


@pytest.mark.parametrize("part", [Remembering(), *map(AtOnce, (ranked, in_another_order, lambda rs: one_by_one(rs)[1:]))])
def test_verdicts_that_depend_on_others_are_found(part: Any) -> None:
    """On earlier calls, or on what a step judges beside it: by rank, by mistake of order, or for lack of a verdict."""
    with pytest.raises(AssertionError, match="depends on what else is judged"):
        check_reward(part)


def test_all_at_once_may_round_differently() -> None:
    """As models do that compute in batches; more than that is found."""
    check_reward(AtOnce(lambda rs: [Verdict.score(len(r.completion) * (1 + 1e-6)) for r in rs]))
    with pytest.raises(AssertionError, match="depends on what else"):
        check_reward(AtOnce(lambda rs: [Verdict.score(len(r.completion) * 1.01) for r in rs]))


class WithClient:
    """Meets one event loop, as an async client must."""

    loop: Any = None

    async def judge(self, rollout: Rollout) -> Verdict:
        running = asyncio.get_running_loop()
        self.loop = self.loop or running
        assert self.loop is running
        return Verdict.score(1.0)


def test_a_model_may_read_the_prompt() -> None:
    """Where the test says so, the context may move the verdict; all else is checked as ever."""
    check_reward(Judge(lambda r: Verdict.score(len(r.tokens))), in_context=True)
    with pytest.raises(AssertionError, match="depends on what else"):
        check_reward(AtOnce(ranked), in_context=True)


def test_all_calls_meet_one_loop() -> None:
    """The check's own, or the caller's, in which the source can be closed afterwards."""
    check_reward(WithClient())
    reward = WithClient()
    with asyncio.Runner() as runner:
        check_reward(reward, run=runner.run)
        assert reward.loop is runner.get_loop()
