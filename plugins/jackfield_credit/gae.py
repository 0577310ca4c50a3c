"""Credit from a critic: generalised advantage estimation, where only what the policy wrote is time.

Axes: R rollouts of a step, M policy tokens of the longest one, L tokens of one rollout. Arrays ``_RM`` are right-aligned: every
rollout's last policy token stands in the last column, so that one backward scan serves all; what is left of its first is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from attrs import frozen

from jackfield.component import fraction, option
from jackfield.types import BoolArray, Credited, FloatArray, Group, Measured, promote
from jackfield_credit.placing import credit_each, on_policy_tokens

Array = npt.NDArray[np.float64]

WHITEN_EPSILON = 1e-8
"""Added to the variance when whitening."""


@frozen(kw_only=True)
class Gae:
    """Generalised advantage estimation (Schulman et al. 2015, arXiv 1506.02438, eq. 16), in float64.

    A time step is a token the policy wrote. Prompts and observations are part of the next state, not steps: neither γ nor λ
    decays across them, and the value after a turn's last token is the value before the next turn's first.

        δ_t = r_t + γ V_{t+1} − V_t        A_t = δ_t + γλ A_{t+1}        return_t = A_t + V_t, before whitening

    ``bootstrap_truncated``: after the last token V is 0, except in a rollout cut off by its token or turn budget, where it is the
    critic's value there: it did not end, we stopped looking. With an outcome reward this also means that running out of budget
    costs nothing beyond the reward not earned; set it to false (Search-R1 does) to make running out an ordinary end worth 0.

    ``whiten`` is over the policy tokens of all rollouts of the step, with the population variance: a single token gives 0.
    """

    gamma: float = option(1.0, help="discount γ per policy token", check=fraction)
    lam: float = option(1.0, help="exponential weight λ of the advantage", check=fraction)
    critic_lam: float | None = option(
        None,
        help="λ of the critic's targets; unset: lam. λ < 1 with a critic's λ of 1 is VAPO's decoupling (arXiv 2504.05118)",
        check=lambda value: None if value is None else fraction(value),
    )
    whiten: bool = option(True, help="shift and scale advantages to mean 0, variance 1 over all policy tokens of the step")
    bootstrap_truncated: bool = option(
        True, help="a rollout cut off by a token or turn budget ends with the critic's value, not with 0"
    )

    needs: ClassVar[frozenset[str]] = frozenset({"value"})
    smallest_group: ClassVar[int] = 1
    uses_reward: ClassVar[bool] = True
    gives_returns: ClassVar[bool] = True

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        """``advantage`` and ``returns`` [L], NaN where the policy did not write."""
        rollouts = [rollout for group in groups for rollout in group]
        advantages, returns = self._estimate(rollouts)
        return credit_each(groups, lambda rollout: _credited(rollout, next(advantages), next(returns)))

    def _estimate(self, rollouts: Sequence[Measured]) -> tuple[Iterator[FloatArray], Iterator[FloatArray]]:
        """Advantages and returns of every rollout, each one value a policy token."""
        length_R = [rollout.num_policy_tokens for rollout in rollouts]
        reward_RM = _right_aligned([rollout.token_reward[rollout.policy_mask] for rollout in rollouts])
        value_RM = _right_aligned([_values(rollout)[rollout.policy_mask] for rollout in rollouts])
        end_value_R = np.array([self._end_value(rollout) for rollout in rollouts])
        advantage_RM = _scan(reward_RM, value_RM, end_value_R, self.gamma, self.lam)
        target_RM = advantage_RM
        if self.critic_lam is not None:
            target_RM = _scan(reward_RM, value_RM, end_value_R, self.gamma, self.critic_lam)
        return_RM = target_RM + value_RM
        if self.whiten:
            advantage_RM = _whitened(advantage_RM, _live(length_R, advantage_RM.shape[1]))
        return _rows(advantage_RM, length_R), _rows(return_RM, length_R)

    def _end_value(self, rollout: Measured) -> float:
        if not (self.bootstrap_truncated and rollout.finish.truncated and rollout.num_policy_tokens):
            return 0.0
        if rollout.bootstrap_value is None:
            raise ValueError(f"rollout {rollout.task.id}/{rollout.member} was truncated but has no bootstrap_value")
        return rollout.bootstrap_value


def _scan(reward_RM: Array, value_RM: Array, end_value_R: Array, gamma: float, lam: float) -> Array:
    """[R, M] advantages, from the last column to the first."""
    advantage_RM = np.zeros_like(value_RM)
    next_value_R = end_value_R
    next_advantage_R = np.zeros_like(end_value_R)
    for t in range(value_RM.shape[1] - 1, -1, -1):
        delta_R = reward_RM[:, t] + gamma * next_value_R - value_RM[:, t]
        next_advantage_R = advantage_RM[:, t] = delta_R + gamma * lam * next_advantage_R
        next_value_R = value_RM[:, t]
    return advantage_RM


def _whitened(advantage_RM: Array, live_RM: BoolArray) -> Array:
    """Mean 0 and population variance 1 over the live entries; all equal gives exactly 0."""
    live = advantage_RM[live_RM]
    if not live.size or live.max() == live.min():
        return np.zeros_like(advantage_RM)
    whitened: Array = (advantage_RM - live.mean()) / np.sqrt(live.var() + WHITEN_EPSILON)
    return whitened


def _right_aligned(rows: Sequence[FloatArray]) -> Array:
    """[R, M] float64."""
    width = max(map(len, rows), default=0)
    aligned = np.zeros((len(rows), width))
    for target, row in zip(aligned, rows, strict=True):
        target[width - len(row) :] = row
    return aligned


def _live(length_R: Sequence[int], width: int) -> BoolArray:
    """[R, M] where ``_right_aligned`` put something."""
    return np.arange(width) >= width - np.array(length_R, np.int64)[:, None]


def _rows(aligned_RM: Array, length_R: Sequence[int]) -> Iterator[FloatArray]:
    """The inverse of ``_right_aligned``."""
    width = aligned_RM.shape[1]
    return (row[width - length :] for row, length in zip(aligned_RM, length_R, strict=True))


def _values(rollout: Measured) -> FloatArray:
    if rollout.value is None:
        raise ValueError("gae got a rollout without the critic's values, though it declares that it needs them")
    return rollout.value


def _credited(rollout: Measured, advantage: FloatArray, returns: FloatArray) -> Credited:
    return promote(Credited, rollout, advantage=on_policy_tokens(rollout, advantage), returns=on_policy_tokens(rollout, returns))
