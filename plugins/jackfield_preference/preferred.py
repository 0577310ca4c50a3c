"""Scores that the data brings along."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING

from attrs import frozen

from jackfield.stages import Tokenizer
from jackfield.types import Rollout, Task, Verdict

if TYPE_CHECKING:
    from jackfield.corridor import Corridor

SCORES = "scores"
"""The key of ``task.extra``: one finite number for every recorded attempt, in their order; the larger, the better."""

SAMPLED = 'has scores of recorded attempts, and this engine samples others; write [engine] use = "recorded"'


@frozen(kw_only=True)
class Preferred:
    """The score that the data gives to a recorded attempt: 1 for the chosen and 0 for the rejected one of a pair, or graded.

    It reads ``task.extra["scores"]``, a number for every recorded attempt, and nothing that was written, so it fits runs that play
    recorded attempts (``[engine] use = "recorded"``) only. It abstains where the data has no score of an attempt; before a run starts,
    rows with attempts but without a finite number for each are refused.
    """

    def check_recipe(self, corridor: Corridor) -> list[str]:
        """What the policy samples is not what the scores are of."""
        return [SAMPLED] if corridor.engine.samples else []

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:  # noqa: ARG002
        """What is wrong with a task's scores."""
        scores, count = task.extra.get(SCORES), len(task.recorded)
        if scores is None:
            return "has no scores of its recorded attempts"
        if not isinstance(scores, Sequence) or isinstance(scores, str):
            return f"scores must be a list of numbers, found {scores!r}"
        if len(scores) != count:
            return f"has {len(scores)} scores for {count} recorded attempts"
        wrong = [f"score {number} is {score!r}" for number, score in enumerate(scores, 1) if not _is_score(score)]
        return f"{', '.join(wrong)}; expected finite numbers" if wrong else None

    def judge(self, rollout: Rollout) -> Verdict:
        """The score of the attempt that this member plays."""
        scores = rollout.task.extra.get(SCORES, ())
        if rollout.member >= len(scores):
            row = rollout.task.origin or rollout.task.id
            return Verdict.abstain(f"{row} has no score of attempt {rollout.member + 1}")
        return Verdict.score(scores[rollout.member], reason=f"given to attempt {rollout.member + 1} by the data")


def _is_score(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
