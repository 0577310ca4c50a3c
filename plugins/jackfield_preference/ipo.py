"""Identity preference optimisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from attrs import frozen

from jackfield.component import option, positive
from jackfield.loss_batch import LossBatch, LossTerms
from jackfield_preference.pairs import Pairs, log_ratio, without_pairs

if TYPE_CHECKING:
    from jackfield.corridor import Corridor


@frozen(kw_only=True)
class Ipo:
    """(h − 1 / 2β)² per pair, h = log(π / π_ref) of the chosen member − that of the rejected one.

    Azar et al. 2023 (arXiv 2310.12036, eq. 17; β is the paper's τ). It regresses the margin on a finite target, so that pairs all
    labelled alike do not drive the policy ever farther from the reference as under ``dpo``.

    The paper writes π of whole answers, which are sums over tokens: ``per_token = false``. Its target then holds whatever the length of
    an answer. Its authors advised implementers to take each member's mean over its tokens instead, as most libraries do:
    ``per_token = true``; β then is per token, and a fitting one is larger by about the length.

    Groups that are no pair (ties) have the term 0 but count in the divisor.

    Metrics, over pairs: ``accuracy``, the share with a positive margin (½ for a margin of exactly 0); ``margin``, h; and the two
    ``log_ratio_chosen`` and ``log_ratio_rejected`` that it is made of.
    """

    beta: float = option(0.1, help="β, the paper's τ: the margin is drawn to 1 / (2β) nats", check=positive)
    per_token: bool = option(False, help="compare means over tokens, not sums over rollouts")

    unit: ClassVar[Literal["group"]] = "group"
    needs: ClassVar[frozenset[str]] = frozenset({"ref_logp"})
    silent_without_advantage: ClassVar[bool] = True

    def check_recipe(self, corridor: Corridor) -> list[str]:
        """It needs an advantage that leaves pairs."""
        return without_pairs(corridor)

    def terms(self, batch: LossBatch) -> LossTerms:
        """[G] terms."""
        log_ratio_N = log_ratio(batch)
        values_R = batch.sum_by_rollout(log_ratio_N)
        if self.per_token:
            values_R = values_R / batch.sum_by_rollout(log_ratio_N.new_ones(len(log_ratio_N)))
        pairs = Pairs.of(batch, values_R)
        return pairs.terms((pairs.margin_G - 1 / (2 * self.beta)).square(), "log_ratio")
