"""Credit over time, where time is what the policy wrote: prompts and observations are part of the next state, not steps.

A row is one number a policy token of one rollout, float64. Axes: R rollouts, M policy tokens of the longest one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from jackfield.types import Measured

Row = npt.NDArray[np.float64]

WHITEN_EPSILON = 1e-8
"""Added to the variance when whitening."""


def rewards(rollout: Measured) -> Row:
    """The reward on every policy token."""
    return rollout.token_reward[rollout.policy_mask].astype(np.float64)


def values(rollout: Measured) -> Row:
    """The critic's value before every policy token."""
    if rollout.value is None:
        raise ValueError("an estimator that needs the critic's values got a rollout without them")
    return rollout.value[rollout.policy_mask].astype(np.float64)


def temporal_differences(rollout: Measured, gamma: float, *, bootstrap_truncated: bool) -> Row:
    """δ_t = r_t + γ V_{t+1} − V_t, where V after the last token is 0, or the critic's if the rollout was cut off by a budget."""
    value = values(rollout)
    following = np.append(value, _end_value(rollout) if bootstrap_truncated else 0.0)[1:]
    return rewards(rollout) + gamma * following - value


def discounted_to_go(rows: Sequence[Row], factor: float) -> list[Row]:
    """Σ_l factor^l x_{t+l} at every t of every row."""
    width = max(map(len, rows), default=0)
    sum_RM = np.zeros((len(rows), width))  # right-aligned, so that one scan from the end serves all rows
    for sums, row in zip(sum_RM, rows, strict=True):
        sums[width - len(row) :] = row
    for t in range(width - 2, -1, -1):
        sum_RM[:, t] += factor * sum_RM[:, t + 1]
    return [sums[width - len(row) :] for sums, row in zip(sum_RM, rows, strict=True)]


def whitened(rows: Sequence[Row]) -> list[Row]:
    """Mean 0 and population variance 1 over all numbers of all rows; all equal (or a single one) gives exactly 0."""
    every = np.concatenate([np.zeros(0), *rows])
    if not every.size or every.max() == every.min():
        return [np.zeros_like(row) for row in rows]
    mean, spread = every.mean(), np.sqrt(every.var() + WHITEN_EPSILON)
    return [(row - mean) / spread for row in rows]


def _end_value(rollout: Measured) -> float:
    if not (rollout.finish.truncated and rollout.num_policy_tokens):
        return 0.0
    if rollout.bootstrap_value is None:
        raise ValueError(f"rollout {rollout.task.id}/{rollout.member} was truncated but has no bootstrap_value")
    return rollout.bootstrap_value
