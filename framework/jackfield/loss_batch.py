"""What a loss sees of a micro-batch, and what it gives back.

Axes: N policy tokens (flat), S turns of the policy, R rollouts and G groups of the micro-batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    import torch


@frozen(kw_only=True, eq=False)
class LossBatch:
    """What a loss may look at: flat vectors over the N policy tokens of a micro-batch, and which rollout each belongs to.

    There is nothing to mask: tokens the policy did not write are not here. The rollouts of a group lie side by side, in the order in
    which the advantage estimator gave them.
    """

    logp_N: torch.Tensor
    """Of the current policy, at the sampling temperature, with gradient. NaN if every loss says ``reads_policy = False``."""
    old_logp_N: torch.Tensor
    """Before the step's first update (the detached ``logp_N`` where a step has only one update)."""
    rollout_N: torch.Tensor
    """Index of the token's rollout in the micro-batch, 0 … R-1."""
    num_rollouts: int
    group_R: torch.Tensor
    """Index of the rollout's group in the micro-batch, 0 … G-1. Groups are only whole here if some loss has unit "group"."""
    num_groups: int
    turn_end_S: torch.Tensor
    """Index among the N of the last token of every turn of the policy."""
    advantage_N: torch.Tensor
    entropy_N: torch.Tensor
    """Of the current policy's distribution at every token, with gradient."""
    ref_logp_N: torch.Tensor | None = None
    value_N: torch.Tensor | None = None
    """Of the current critic, with gradient."""
    old_value_N: torch.Tensor | None = None
    return_N: torch.Tensor | None = None
    score_R: torch.Tensor | None = None
    """Of the current critic after every rollout's last token, with gradient."""
    turn_score_S: torch.Tensor | None = None
    """Of the current critic after the last token of every turn, with gradient. (``value_N`` there is before that token.)"""

    def sum_by_rollout(self, values_N: torch.Tensor) -> torch.Tensor:
        """[R] sums over every rollout's policy tokens."""
        return values_N.new_zeros(self.num_rollouts).index_add(0, self.rollout_N, values_N)

    def sum_by_group(self, values_R: torch.Tensor) -> torch.Tensor:
        """[G] sums over every group's rollouts."""
        return values_R.new_zeros(self.num_groups).index_add(0, self.group_R, values_R)

    @property
    def side_R(self) -> torch.Tensor:
        """[R] +1 for rollouts whose advantage is positive, −1 where it is negative, 0 where it is 0: which side of a pair each is,
        after an advantage estimator such as ``pairs``, which gives all tokens of a rollout one advantage."""
        return self.sum_by_rollout(self.advantage_N).sign()


@frozen(kw_only=True, eq=False)
class LossTerms:
    """What a loss gives back: one term a unit, undivided. The core weighs, sums and divides once per optimizer step."""

    term: torch.Tensor
    """[N] if the loss's ``unit`` is "token", [S] if "turn", [R] if "rollout", [G] if "group". Minimised."""
    metrics: Mapping[str, torch.Tensor] = field(factory=dict)
    """Name → one detached value a unit ([N], [S], [R], [G] or any length): reported as the mean over all of them in the step."""
