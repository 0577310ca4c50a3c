"""What a reward source promises."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from jackfield.corridor import Named
from jackfield.eventloop import RunAsync
from jackfield.reward import score
from jackfield.stages import Reward
from jackfield.testing.material import TURNS, spoken
from jackfield.types import Group, Rollout, Verdict

SLOW = 5.0
"""Seconds that judging a degenerate text of 100,000 characters may take."""

ANSWERS: tuple[tuple[str, ...], ...] = (("Paris",), ("7",), ("", "Paris"), ("",), ())
"""Of tasks, as data has them."""

DEGENERATE = ("a" * 100_000, "<answer>" * 12_500, "\\boxed{" * 14_000, "1," * 50_000, "a" + "\u0301\u0316" * 50_000)


def check_reward(reward: Reward, *, in_context: bool = False, run: RunAsync | None = None) -> None:
    """Judges anything without raising: turns of every kind, tasks without gold answers, degenerate texts in little time.

    Scores are finite, other verdicts have a reason. Neither prompt nor observations move a verdict, nor what else is judged, and in
    which order. All calls happen in one event loop, as in a run: in ``run``'s, if given. A model that reads an answer after its prompt
    is checked with ``in_context=True``, and then may.
    """
    if run is None:
        with asyncio.Runner() as runner:
            check_reward(reward, in_context=in_context, run=runner.run)
        return
    alone = {}
    for name, turns in TURNS.items():
        for answers in ANSWERS:
            rollout = spoken(turns, answers)
            verdict = alone[rollout] = _judged(reward, rollout, name, run)
            elsewhere = spoken(turns, answers, others="<answer>Paris</answer> 7 <search>")
            same = in_context or _judged(reward, elsewhere, name, run) == verdict
            assert same, f"{name}: the verdict depends on what the policy did not write"
    for rollout, verdict in _together(reward, list(alone)[::-1], run):
        assert _agree(verdict, alone[rollout]), (
            f"{rollout.completion[:40]!r}: the verdict depends on what else is judged, or has been: {alone[rollout]} alone and at "
            f"first, {verdict} among others"
        )
    for text in DEGENERATE:
        start = time.perf_counter()
        _judged(reward, spoken((text, f"<answer>{text}</answer>"), ("Paris",)), f"{text[:10]}…", run)
        seconds = time.perf_counter() - start
        assert seconds < SLOW, f"{len(text)} characters {text[:10]!r}… took {seconds:.1f} s to judge"


def _judged(reward: Reward, rollout: Rollout, what: str, run: RunAsync) -> Verdict:
    try:
        verdict: Any = reward.judge(rollout)
        if inspect.isawaitable(verdict):
            verdict = run(_wait(verdict))
    except Exception as error:
        raise AssertionError(f"{what}: judging raised {type(error).__name__}: {error}") from error
    assert isinstance(verdict, Verdict), f"{what}: judging gave {verdict!r}, not a Verdict"
    assert verdict.kind != "error", f"{what}: {verdict.reason}"
    assert verdict.kind != "abstain" or verdict.reason, f"{what}: abstained without a reason"
    turns = sum(segment.writer == "policy" for segment in rollout.segments)
    assert len(verdict.turns or ()) <= turns, f"{what}: {len(verdict.turns or ())} turns have a score, {turns} were written"
    assert all(np.isfinite(value) for value in verdict.extras.values()), f"{what}: extras are not finite: {verdict.extras}"
    return verdict


async def _wait(verdict: Any) -> Any:
    return await verdict


def _together(reward: Reward, rollouts: list[Rollout], run: RunAsync) -> Iterator[tuple[Rollout, Verdict]]:
    """As a step judges them: by ``judge_all`` if there is one."""
    groups = [Group(id=str(number), task=rollout.task, members=(rollout,)) for number, rollout in enumerate(rollouts)]
    for rollout, [scored] in zip(rollouts, score(groups, [Named(name="reward", part=reward)], run=run), strict=True):
        yield rollout, scored.verdicts["reward"]


def _agree(verdict: Verdict, other: Verdict) -> bool:
    """To rounding: a model computes in batches."""
    return verdict.kind == other.kind and bool(np.isclose(verdict.value, other.value, rtol=1e-4, atol=1e-5))
