"""Maximum likelihood of the preferred member."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from attrs import frozen

from jackfield.loss_batch import LossBatch, LossTerms
from jackfield.types import Credited
from jackfield_preference.pairs import side, without_pairs

if TYPE_CHECKING:
    from jackfield.corridor import Corridor


@frozen(kw_only=True)
class ChosenNll:
    """−log π(token) per token of the preferred member of a pair, in nats; the other member counts nowhere, not in the divisor either.

    The NLL term beside DPO, which keeps the chosen answer likely while the margin grows; its ``weight`` is its coefficient. What it is
    divided by is ``learn.aggregation`` over preferred members alone: with ``token_mean`` it is the cross entropy that fine-tuning on the
    chosen answers would have; with ``sequence_mean`` every chosen answer counts alike (Pang et al. 2024, arXiv 2404.19733, eq. 1).
    """

    unit: ClassVar[Literal["token"]] = "token"
    silent_without_advantage: ClassVar[bool] = True

    def check_recipe(self, corridor: Corridor) -> list[str]:
        """It needs an advantage that leaves pairs."""
        return without_pairs(corridor)

    def counts(self, rollout: Credited) -> bool:
        """Whether this is the preferred member: its advantage is positive."""
        return side(rollout) > 0

    def terms(self, batch: LossBatch) -> LossTerms:
        """[N] terms, 0 for members that are not preferred."""
        preferred_N = (batch.side_R > 0)[batch.rollout_N]
        return LossTerms(term=(-batch.logp_N).where(preferred_N, batch.logp_N.new_zeros(())))
