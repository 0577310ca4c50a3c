"""Between arrays of one rollout [L] and the tokens its policy wrote."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt

from jackfield.types import Credited, FloatArray, Group, Measured, Rollout, promote


def total_reward(rollout: Measured) -> float:
    """What the rollout earned: its reward less its penalties, which is the sum of its tokens' rewards.

    A rollout in which the policy wrote nothing has no token to carry its reward, yet counts in its group's statistics.
    """
    if rollout.num_policy_tokens == 0:
        return float(rollout.reward or 0.0)
    return float(rollout.token_reward[rollout.policy_mask].sum(dtype=np.float64))


def on_policy_tokens(rollout: Rollout, values: FloatArray | float) -> FloatArray:
    """[L] float64: ``values`` (one a policy token, or the same for all) where the policy wrote, NaN elsewhere."""
    placed: npt.NDArray[np.float64] = np.full(len(rollout.tokens), np.nan)
    placed[rollout.policy_mask] = values
    return placed


def credited(
    groups: Sequence[Group[Measured]], advantages: Sequence[FloatArray | float], returns: Sequence[FloatArray] | None = None
) -> list[Group[Credited]]:
    """The same groups with every member credited.

    ``advantages`` and ``returns`` have an entry a rollout, in order: one number a policy token, or the same for all.
    """
    rollouts = [rollout for group in groups for rollout in group]
    targets = [None] * len(rollouts) if returns is None else returns
    members = (_credited(*given) for given in zip(rollouts, advantages, targets, strict=True))
    return [Group(id=group.id, task=group.task, members=tuple(islice(members, len(group)))) for group in groups]


def _credited(rollout: Measured, advantage: FloatArray | float, returns: FloatArray | None) -> Credited:
    return promote(
        Credited,
        rollout,
        advantage=on_policy_tokens(rollout, advantage),
        returns=None if returns is None else on_policy_tokens(rollout, returns),
    )
