"""A reward that means nothing, so that a model that can do nothing still has something to learn from."""

from __future__ import annotations

from attrs import frozen

from jackfield.types import Rollout, Verdict


@frozen(kw_only=True)
class Varied:
    """The sum of the ids the policy wrote, modulo 7, over 7: deterministic, and seldom alike for two rollouts."""

    def judge(self, rollout: Rollout) -> Verdict:
        """Always a score."""
        total = int(rollout.tokens[rollout.policy_mask].sum())
        return Verdict.score(total % 7 / 7, reason=f"{total} modulo 7")
