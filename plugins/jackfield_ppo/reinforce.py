"""The plain policy gradient."""

from __future__ import annotations

from typing import ClassVar, Literal

from attrs import frozen

from jackfield.loss_batch import LossBatch, LossTerms


@frozen(kw_only=True)
class Reinforce:
    """−A · log π(token), a term per token, whose gradient is the policy gradient (Williams 1992): PPO without a ratio.

    With advantages of 1 (``[advantage] use = "constant"``) it is maximum likelihood, number for number ``cross_entropy``. The value of
    the loss says nothing of how well the policy does, only its gradient means something. From the second update of a step on, tokens
    come from the policy of before the step, which nothing here corrects for: ``ppo_clip``, ``cispo`` and ``gspo`` do.
    """

    unit: ClassVar[Literal["token"]] = "token"
    silent_without_advantage: ClassVar[bool] = True

    def terms(self, batch: LossBatch) -> LossTerms:
        """[N] terms."""
        return LossTerms(term=-batch.advantage_N * batch.logp_N)
