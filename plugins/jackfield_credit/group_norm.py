"""Credit from comparing the attempts at one task with each other, without a critic.

Axes: G members of a group, L tokens of one rollout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from attrs import frozen

from jackfield.component import at_least, option
from jackfield.types import Credited, FloatArray, Group, Measured
from jackfield_credit.placing import credited, total_reward


@frozen(kw_only=True)
class GroupNorm:
    """GRPO's group-relative advantage: (R − mean) / (std + ε), the same on every token of a rollout.

    R is a rollout's total reward, penalties on its tokens included. The standard deviation is the sample one (n − 1), as in
    Search-R1 and its relatives. A group whose members all have the same reward gets exactly 0, whatever rounding says; losses that look
    at no advantage (``kl``, ``entropy``) still move by it, unless the filter ``informative`` leaves it out.

    Sources: DeepSeekMath (Shao et al. 2024, arXiv 2402.03300, section 4.1.2, outcome supervision); Understanding R1-Zero-Like
    Training (Liu et al. 2025, arXiv 2503.20783, "Dr. GRPO") for ``scale_by_std = false``: dividing by the standard deviation
    gives very easy and very hard tasks more weight.

    Rollouts without a reward (failed, or every source abstained) take no part in mean and deviation, and a group that this leaves
    with fewer than two members is left out of the step. Truncated rollouts count like any other (see the filter
    ``drop_truncated``); so do those in which the policy wrote nothing.
    """

    scale_by_std: bool = option(
        True, help="divide by the group's standard deviation (GRPO); false: only subtract the mean (Dr. GRPO)"
    )
    epsilon: float = option(1e-6, help="added to the standard deviation", check=at_least(0))

    smallest_group: ClassVar[int] = 2
    uses_reward: ClassVar[bool] = True
    gives_returns: ClassVar[bool] = False

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        """``advantage`` [L], constant over a rollout's policy tokens; no ``returns``."""
        return credited(groups, [a for group in groups for a in self.advantages(np.array([total_reward(r) for r in group]))])

    def advantages(self, reward_G: npt.NDArray[np.float64]) -> FloatArray:
        """[G] advantages of the members of one group with these total rewards."""
        if reward_G.max() == reward_G.min():  # the mean of equal floats need not equal them; a tiny std would blow that up
            return np.zeros_like(reward_G)
        scale = float(reward_G.std(ddof=1)) + self.epsilon if self.scale_by_std else 1.0
        return (reward_G - float(reward_G.mean())) / scale
