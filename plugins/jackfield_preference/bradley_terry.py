"""Reward-model training."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from attrs import frozen

from jackfield.component import at_least, option
from jackfield.loss_batch import LossBatch, LossTerms
from jackfield_preference.pairs import Pairs, without_pairs

if TYPE_CHECKING:
    from jackfield.corridor import Corridor


@frozen(kw_only=True)
class BradleyTerry:
    """−log σ(s_chosen − s_rejected) + centring · (s_chosen + s_rejected)² per pair, s the critic's score at a rollout's last token.

    The Bradley-Terry model of preferences as Ouyang et al. 2022 (arXiv 2203.02155, eq. 1) train reward models. The first term leaves
    open where 0 lies; the second puts it amid the scores (Eisenstein et al. 2023, arXiv 2312.09244; 0.01 is a usual coefficient), so
    that scores of several models, or a score and a penalty, can be added up. The pair is a group after an advantage estimator that says which member
    is preferred (``pairs``). Groups that are no pair (ties) have the term 0 but count in the divisor.

    Metrics, over pairs: ``accuracy``, the share with a positive margin (½ for a margin of exactly 0); ``margin``; ``score_chosen``;
    ``score_rejected``.
    """

    centring: float = option(
        0.0, help="coefficient of the squared sum of a pair's scores; 0: the level is left open", check=at_least(0)
    )

    unit: ClassVar[Literal["group"]] = "group"
    needs: ClassVar[frozenset[str]] = frozenset({"score"})
    reads_policy: ClassVar[bool] = False
    silent_without_advantage: ClassVar[bool] = True

    def check_recipe(self, corridor: Corridor) -> list[str]:
        """It needs an advantage that leaves pairs."""
        return without_pairs(corridor)

    def terms(self, batch: LossBatch) -> LossTerms:
        """[G] terms."""
        from torch.nn.functional import softplus

        if batch.score_R is None:
            raise ValueError("bradley_terry got no scores, though it declares that it needs them")
        pairs = Pairs.of(batch, batch.score_R)
        level_G = (pairs.chosen_G + pairs.rejected_G).square()
        return pairs.terms(softplus(-pairs.margin_G) + self.centring * level_G, "score")
