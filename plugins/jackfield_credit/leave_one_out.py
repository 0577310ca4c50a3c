"""Credit from comparing each attempt at a task with all the others at it, without a critic.

Axes: G members of a group, L tokens of one rollout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from attrs import frozen

from jackfield.types import Credited, FloatArray, Group, Measured
from jackfield_credit.placing import credited, total_reward


@frozen(kw_only=True)
class LeaveOneOut:
    """RLOO: a rollout's reward less the mean reward of the group's other members, the same on every token of the rollout.

        A_i = R_i − 1/(G − 1) Σ_{j ≠ i} R_j

    R is a rollout's total reward, penalties on its tokens included. The baseline does not depend on the rollout it is taken off, so
    that the policy gradient stays unbiased; A is G/(G − 1) times that of ``group_norm`` without scaling. Nothing is divided by a
    spread, so no advantage can exceed the range of the group's rewards.

    Sources: Kool et al. 2019, "Buy 4 REINFORCE Samples, Get a Baseline for Free!"; Ahmadian et al. 2024, arXiv 2402.14740.

    A group whose members all have the same reward gets exactly 0. Rollouts without a reward (failed, or every source abstained)
    take no part in the mean, and a group that this leaves with fewer than two members is left out of the step. Truncated rollouts
    count like any other (see the filter ``drop_truncated``); so do those in which the policy wrote nothing.
    """

    smallest_group: ClassVar[int] = 2
    uses_reward: ClassVar[bool] = True
    gives_returns: ClassVar[bool] = False

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        """``advantage`` [L], constant over a rollout's policy tokens; no ``returns``."""
        return credited(groups, [a for group in groups for a in self.advantages(np.array([total_reward(r) for r in group]))])

    def advantages(self, reward_G: npt.NDArray[np.float64]) -> FloatArray:
        """[G] advantages of the members of one group with these total rewards."""
        if reward_G.max() == reward_G.min():  # the mean of equal floats need not equal them
            return np.zeros_like(reward_G)
        return (reward_G - float(reward_G.mean())) * (len(reward_G) / (len(reward_G) - 1))
