"""KL to the reference as a term of the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from attrs import frozen

from jackfield.component import option
from jackfield.loss_batch import LossBatch, LossTerms

if TYPE_CHECKING:
    import torch

LOG_RATIO_LIMIT = 20.0
"""Log-ratios beyond this are cut before exp, which would overflow fp32 at 88."""

Estimator = Literal["k1", "k2", "k3", "k1_with_k2_gradient", "k3_with_k2_gradient", "k3_times_ratio"]


@frozen(kw_only=True)
class Kl:
    """An estimate per token, from the token sampled, of KL(policy ‖ reference); ``weight`` is its coefficient β.

    With d = log π − log π_ref at the sampled token (Schulman, "Approximating KL divergence", joschu.net/blog/kl-approx.html) and
    ρ = π / π_old. A right value does not make a right gradient (Tang and Munos 2025, arXiv 2506.09477, section 3):

    ======================  ======================  ================  ===========================================================
    estimator               value                   is unbiased       gradient, in expectation over tokens sampled from the policy
    ======================  ======================  ================  ===========================================================
    k1                      d                       yes               0: it pulls nowhere. For measuring only
    k2                      d² / 2                  no                of KL(policy ‖ reference): the right one
    k3                      exp(−d) − 1 + d         yes               of KL(reference ‖ policy): near the right one only while
                                                                      both are close
    k1_with_k2_gradient     that of k1              yes               that of k2: the right one
    k3_with_k2_gradient     that of k3              yes               that of k2: the right one; never negative
    k3_times_ratio          ρ · that of k3          yes, and for old  the right one, for old tokens too (DeepSeek-V3.2,
                                                    tokens too        arXiv 2512.02556, eq. 7)
    ======================  ======================  ================  ===========================================================

    GRPO (arXiv 2402.03300, eq. 4) and Search-R1 use k3. Old tokens are those of a step's second and later updates: they come from the
    policy of before the step, which only ``k3_times_ratio`` corrects for.

    "Right" means for every token where it stands, summed over tokens: what a token does to the KL of later ones, which it leads to, is
    in no loss of this kind. The penalty ``kl`` (k1, in the reward, with returns summed to the end) has the whole gradient.
    """

    estimator: Estimator = option("k3", help="see the table above for value and gradient")

    unit: ClassVar[Literal["token"]] = "token"

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"ref_logp", "old_logp"} if self.estimator == "k3_times_ratio" else {"ref_logp"})

    def terms(self, batch: LossBatch) -> LossTerms:
        """[N] terms."""
        if batch.ref_logp_N is None:
            raise ValueError("kl got no log-probs of the reference, though it declares that it needs them")
        d_N = batch.logp_N - batch.ref_logp_N
        cut_N = d_N.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
        match self.estimator:
            case "k1":
                term_N = d_N
            case "k2":
                term_N = _k2(cut_N)
            case "k3":
                term_N = _k3(cut_N)
            case "k1_with_k2_gradient":
                term_N = _value_of(d_N, gradient_of=_k2(cut_N))
            case "k3_with_k2_gradient":
                term_N = _value_of(_k3(cut_N), gradient_of=_k2(cut_N))
            case "k3_times_ratio":
                ratio_N = (batch.logp_N - batch.old_logp_N).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp()
                term_N = ratio_N * _k3(cut_N)
        return LossTerms(term=term_N)


def _k2(d_N: torch.Tensor) -> torch.Tensor:
    return d_N.square() / 2


def _k3(d_N: torch.Tensor) -> torch.Tensor:
    return (-d_N).expm1() + d_N


def _value_of(value_N: torch.Tensor, *, gradient_of: torch.Tensor) -> torch.Tensor:
    """The value of one estimate with the gradient of another (straight-through)."""
    return value_N.detach() + (gradient_of - gradient_of.detach())
