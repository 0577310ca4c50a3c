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
from jackfield.types import Credited, FloatArray, Group, Measured, promote
from jackfield_credit.placing import on_policy_tokens


@frozen(kw_only=True)
class GroupNorm:
    """GRPO's group-relative advantage: (R − mean) / (std + ε), the same on every token of a rollout.

    R is a rollout's total reward, penalties on its tokens included. The standard deviation is the sample one (n − 1), as in
    Search-R1 and its relatives. A group whose members all have the same reward gets exactly 0, whatever rounding says.

    Sources: DeepSeekMath (Shao et al. 2024, arXiv 2402.03300, section 4.1.2, outcome supervision); Understanding R1-Zero-Like
    Training (Liu et al. 2025, arXiv 2503.20783, "Dr. GRPO") for ``scale_by_std = false``: dividing by the standard deviation
    gives very easy and very hard tasks more weight.
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
        return [self._credit_group(group) for group in groups]

    def _credit_group(self, group: Group[Measured]) -> Group[Credited]:
        advantage_G = self.advantages(np.array([total_reward(rollout) for rollout in group]))
        members = tuple(
            promote(Credited, rollout, advantage=on_policy_tokens(rollout, float(advantage)))
            for rollout, advantage in zip(group, advantage_G, strict=True)
        )
        return Group(id=group.id, task=group.task, members=members)

    def advantages(self, reward_G: npt.NDArray[np.float64]) -> FloatArray:
        """[G] advantages of the members of one group with these total rewards."""
        if reward_G.max() == reward_G.min():  # the mean of equal floats need not equal them; a tiny std would blow that up
            return np.zeros_like(reward_G)
        scale = float(reward_G.std(ddof=1)) + self.epsilon if self.scale_by_std else 1.0
        return (reward_G - float(reward_G.mean())) / scale


def total_reward(rollout: Measured) -> float:
    """What the rollout earned: its reward less its penalties, which is the sum of its tokens' rewards.

    A rollout in which the policy wrote nothing has no token to carry its reward, yet counts in its group's statistics.
    """
    if rollout.num_policy_tokens == 0:
        return float(rollout.reward or 0.0)
    return float(rollout.token_reward[rollout.policy_mask].sum(dtype=np.float64))
