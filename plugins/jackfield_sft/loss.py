"""Maximum likelihood."""

from __future__ import annotations

from typing import ClassVar, Literal

from attrs import frozen

from jackfield.loss_batch import LossBatch, LossTerms


@frozen(kw_only=True)
class CrossEntropy:
    """−log π(token) per policy token, in nats: what fine-tuning on recorded answers minimises. Advantages are not looked at."""

    unit: ClassVar[Literal["token"]] = "token"

    def terms(self, batch: LossBatch) -> LossTerms:
        """[N] terms."""
        return LossTerms(term=-batch.logp_N)
