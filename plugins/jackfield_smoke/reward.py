"""A reward that means nothing, so that a model that can do nothing still has something to learn from."""

from __future__ import annotations

from attrs import frozen

from jackfield.types import Rollout, Verdict


@frozen(kw_only=True)
class Varied:
    """One more than the sum of the ids the policy wrote, modulo 97, over 97: never 0, and seldom alike for two rollouts."""

    def judge(self, rollout: Rollout) -> Verdict:
        """Always a score."""
        total = int(rollout.tokens[rollout.policy_mask].sum())
        return Verdict.score((1 + total % 97) / 97, reason=f"1 more than {total} modulo 97, over 97")
