"""KL to the reference as part of the reward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from attrs import define, field

from jackfield.component import at_least, option, positive
from jackfield.types import FloatArray, Measured

LOG_RATIO_LIMIT = 20.0
"""Log-ratios beyond this are cut before exp and square, so that one token cannot drown all others."""
LARGEST_ERROR = 0.2
"""How far off, in targets, a step's KL may count as (Ziegler et al. 2019, section 2.2)."""
MEASURED_KL = "kl/reference"
"""The metric an adaptive coefficient follows: nats per policy token, of the policy before the step's first update."""


@define(kw_only=True)
class Kl:
    """coefficient × an estimate of KL(policy ‖ reference) at every policy token, taken off that token's reward.

    The policy is the one of before the step's first update, so that the penalty is a fixed number like any reward and the policy
    gradient does the rest; k1, d = log π_old − log π_ref, then has the right gradient (Ziegler et al. 2019, arXiv 1909.08593,
    eq. 2; Search-R1's PPO uses it with 0.001). k2 = d² / 2 and k3 = exp(−d) − 1 + d are never negative. Only tokens that the
    policy wrote are penalised. A coefficient of 0 holds no reference.

    With ``target`` the coefficient β adapts, as in section 2.2 of that paper: after every step β grows by the factor
    1 + e / horizon, e = (KL − target) / target within ±0.2, and checkpoints keep it. KL is the step's metric ``kl/reference``, per
    policy token, not per rollout as in the paper: divide a target for whole rollouts by their length. A step that measured no KL
    leaves β as it is.
    """

    coefficient: float = option(help="β: reward per nat; with a target, the one to start from", check=at_least(0))
    estimator: Literal["k1", "k2", "k3"] = option("k1", help="k1: d; k2: d²/2; k3: exp(−d) − 1 + d, with d = log π_old − log π_ref")
    target: float | None = option(
        None,
        help="nats per policy token that the coefficient is steered to; unset: it stays as it is",
        check=lambda value: None if value is None else positive(value),
    )
    horizon: float = option(
        10.0, help="with a target: a step changes the coefficient by the share e / horizon (the paper's 1 / K_β)", check=at_least(1)
    )

    _current: float = field(init=False, eq=False)
    """β of the next step."""

    def __attrs_post_init__(self) -> None:
        if self.target is not None and self.coefficient == 0:
            raise ValueError("coefficient: must be above 0 to adapt to a target: it grows by factors")
        self._current = self.coefficient

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"old_logp", "ref_logp"}) if self.coefficient else frozenset()

    def penalty(self, rollout: Measured) -> FloatArray:
        """[L] float64, 0 where the policy did not write."""
        penalty_L = np.zeros(len(rollout.tokens))
        if not self.coefficient:
            return penalty_L
        if rollout.old_logp is None or rollout.ref_logp is None:
            raise ValueError("kl got a rollout without log-probs, though it declares that it needs them")
        wrote = rollout.policy_mask
        d_N = rollout.old_logp[wrote].astype(np.float64) - rollout.ref_logp[wrote].astype(np.float64)
        penalty_L[wrote] = self._current * self._estimate(np.clip(d_N, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT))
        return penalty_L

    def after_step(self, metrics: Mapping[str, float]) -> None:
        """Steer the coefficient by the KL that the step measured."""
        if self.target is None or MEASURED_KL not in metrics:
            return
        error = (metrics[MEASURED_KL] - self.target) / self.target
        self._current *= 1 + min(max(error, -LARGEST_ERROR), LARGEST_ERROR) / self.horizon

    def state(self) -> dict[str, float]:
        """The adapted coefficient; nothing of a fixed one, which is the recipe's."""
        return {} if self.target is None else {"coefficient": self._current}

    def restore(self, state: Mapping[str, float]) -> None:
        """Take over what ``state`` gave."""
        self._current = state.get("coefficient", self.coefficient)

    def _estimate(self, d_N: FloatArray) -> FloatArray:
        match self.estimator:
            case "k1":
                return d_N
            case "k2":
                return d_N**2 / 2
            case "k3":
                return np.expm1(-d_N) + d_N
