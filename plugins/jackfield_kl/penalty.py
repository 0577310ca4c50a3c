"""KL to the reference as part of the reward."""

from __future__ import annotations

from typing import Literal

import numpy as np
from attrs import frozen

from jackfield.component import at_least, option
from jackfield.types import FloatArray, Measured

LOG_RATIO_LIMIT = 20.0
"""Log-ratios beyond this are cut before exp and square, so that one token cannot drown all others."""


@frozen(kw_only=True)
class Kl:
    """coefficient × an estimate of KL(policy ‖ reference) at every policy token, taken off that token's reward.

    The policy is the one of before the step's first update, so that the penalty is a fixed number like any reward and the policy
    gradient does the rest; k1, d = log π_old − log π_ref, then has the right gradient (Ziegler et al. 2019, arXiv 1909.08593,
    eq. 2; Search-R1's PPO uses it with 0.001). k2 = d² / 2 and k3 = exp(−d) − 1 + d are never negative. Only tokens that the
    policy wrote are penalised. A coefficient of 0 holds no reference.
    """

    coefficient: float = option(help="β: reward per nat", check=at_least(0))
    estimator: Literal["k1", "k2", "k3"] = option("k1", help="k1: d; k2: d²/2; k3: exp(−d) − 1 + d, with d = log π_old − log π_ref")

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
        penalty_L[wrote] = self.coefficient * self._estimate(np.clip(d_N, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT))
        return penalty_L

    def _estimate(self, d_N: FloatArray) -> FloatArray:
        match self.estimator:
            case "k1":
                return d_N
            case "k2":
                return d_N**2 / 2
            case "k3":
                return np.expm1(-d_N) + d_N
