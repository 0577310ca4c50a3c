"""Credit relative to the whole step, with neither critic nor groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from jackfield.types import Credited, Group, Measured
from jackfield_credit.placing import credited
from jackfield_credit.timeline import discounted_to_go, rewards, whitened


@frozen(kw_only=True)
class ReinforcePlusPlus:
    """REINFORCE++ (Hu 2025, arXiv 2501.03262): returns to go, whitened over all policy tokens of the step, in float64.

        G_t = Σ_{i ≥ t} r_i        A_t = (G_t − mean G) / std G, over every policy token of every rollout

    With the penalty ``kl`` (estimator k1), r_i is −β (log π_old − log π_ref) at every token and the outcome besides on the last,
    which is the paper's reward. The standard deviation is the population's (ε = 1e-8 is added to the variance).

    Groups play no part, so a task may have a single rollout. A group of equal rewards still learns, from how it compares with the
    rest of the step; only where every token of the step has the same return is all exactly 0. The mean is over tokens: long
    rollouts weigh more in it. A rollout cut off by a budget has earned what it has earned until then and is part of the statistics;
    rollouts without a reward (failed, or every source abstained) have left the step before.
    """

    smallest_group: ClassVar[int] = 1
    uses_reward: ClassVar[bool] = True
    gives_returns: ClassVar[bool] = False

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        """``advantage`` [L], NaN where the policy did not write; no ``returns``."""
        returns = discounted_to_go([rewards(rollout) for group in groups for rollout in group], 1.0)
        return credited(groups, whitened(returns))
