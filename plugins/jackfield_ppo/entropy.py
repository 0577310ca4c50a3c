"""The entropy bonus."""

from __future__ import annotations

from typing import ClassVar, Literal

from attrs import frozen

from jackfield.loss_batch import LossBatch, LossTerms


@frozen(kw_only=True)
class Entropy:
    """Minus the entropy of the policy's distribution at every policy token, in nats: minimised, it keeps the policy exploring.

    The weight is the bonus per nat, e.g. ``weight = 0.001`` (the coefficient c₂ of PPO, arXiv 1707.06347, eq. 9).
    """

    unit: ClassVar[Literal["token"]] = "token"

    def terms(self, batch: LossBatch) -> LossTerms:
        """[N] terms."""
        return LossTerms(term=-batch.entropy_N)
