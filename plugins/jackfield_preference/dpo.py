"""Direct preference optimisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from attrs import frozen

from jackfield.component import option, positive
from jackfield.loss_batch import LossBatch, LossTerms
from jackfield_preference.pairs import Pairs, log_ratio, without_pairs

if TYPE_CHECKING:
    from jackfield.corridor import Corridor


def _below_half(value: float) -> str | None:
    return None if 0 <= value < 0.5 else f"must be at least 0 and below 0.5, found {value}"


@frozen(kw_only=True)
class Dpo:
    """−log σ(r_chosen − r_rejected) per pair, r = β · (log π(rollout) − log π_ref(rollout)), summed over the policy's tokens.

    Rafailov et al. 2023 (arXiv 2305.18290, eq. 7). The pair is a group after an advantage estimator that says which member is
    preferred (``pairs``). Sums, not means: the log-prob of the whole rollout, whatever its length. While the policy is the reference
    every pair's term is ln 2. Groups that are no pair (ties) have the term 0 but count in the divisor.

    ``label_smoothing`` ε says that a label is wrong with probability ε: (1 − ε) · −log σ(m) + ε · −log σ(−m) for the margin m
    (conservative DPO, Mitchell 2023): the margin is drawn to log((1 − ε) / ε) and not to infinity.

    An NLL term beside it is the loss ``chosen_nll`` with a weight of its own.

    Metrics, over pairs: ``accuracy``, the share with a positive margin (½ for a margin of exactly 0); ``margin``; ``reward_chosen``;
    ``reward_rejected``.
    """

    beta: float = option(0.1, help="β, reward per nat: the smaller, the farther the policy may leave the reference", check=positive)
    label_smoothing: float = option(0.0, help="ε, the share of labels taken to be wrong", check=_below_half)

    unit: ClassVar[Literal["group"]] = "group"
    needs: ClassVar[frozenset[str]] = frozenset({"ref_logp"})
    silent_without_advantage: ClassVar[bool] = True

    def check_recipe(self, corridor: Corridor) -> list[str]:
        """It needs an advantage that leaves pairs."""
        return without_pairs(corridor)

    def terms(self, batch: LossBatch) -> LossTerms:
        """[G] terms."""
        from torch.nn.functional import softplus

        pairs = Pairs.of(batch, self.beta * batch.sum_by_rollout(log_ratio(batch)))
        right_G, wrong_G = softplus(-pairs.margin_G), softplus(pairs.margin_G)
        return pairs.terms((1 - self.label_smoothing) * right_G + self.label_smoothing * wrong_G, "reward")
