"""Which attempt at a task is to be preferred to which: for losses over pairs (DPO, IPO, reward models)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from attrs import evolve, frozen

from jackfield.component import at_least, option
from jackfield.types import Credited, Group, Measured
from jackfield_credit.placing import credited, total_reward


@frozen(kw_only=True)
class Pairs:
    """One pair a group: the member with the highest reward is chosen, the one with the lowest rejected; the others leave the step.

    Advantage +1 on all tokens of the chosen, −1 on all of the rejected, in this order. The reward is a rollout's total, penalties
    on its tokens included. Of members with equal rewards the one with the lowest ``member`` index is taken, whatever their order.

    A group in which no two rewards differ by more than ``margin`` says nothing and is left out of the step (count them by
    ``groups/informative``, or refill the step with the filter ``informative``). Members in which the policy wrote nothing never
    form a pair; those without a reward (failed, or every source abstained) have left the step before, and groups of one with them.
    Truncated rollouts count like any other: as the worst of their group they are what is pushed down (see the filter
    ``drop_truncated``).
    """

    margin: float = option(
        1e-6, help="the two rewards differ by more than this: no preference is made of rounding or noise", check=at_least(0)
    )

    smallest_group: ClassVar[int] = 2
    uses_reward: ClassVar[bool] = True
    gives_returns: ClassVar[bool] = False

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        """Groups of two, ``advantage`` [L] 1 and −1 where the policy wrote; no ``returns``."""
        pairs = [pair for group in groups for pair in self._pair(group)]
        return credited(pairs, [1.0, -1.0] * len(pairs))

    def _pair(self, group: Group[Measured]) -> list[Group[Measured]]:
        """The group made of chosen and rejected; nothing if there is no preference."""
        written = sorted((rollout for rollout in group if rollout.num_policy_tokens), key=lambda rollout: rollout.member)
        if not written:
            return []
        chosen, rejected = max(written, key=total_reward), min(written, key=total_reward)  # the first of equals
        if total_reward(chosen) - total_reward(rejected) <= self.margin:
            return []
        return [evolve(group, members=(chosen, rejected))]
