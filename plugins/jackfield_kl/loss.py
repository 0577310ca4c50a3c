"""KL to the reference as a term of the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from attrs import frozen

from jackfield.component import option
from jackfield.stages import LossBatch, LossTerms

if TYPE_CHECKING:
    import torch

LOG_RATIO_LIMIT = 20.0
"""Log-ratios beyond this are cut before exp, which would overflow fp32 at 88."""


@frozen(kw_only=True)
class Kl:
    """An estimate per token, from the token sampled, of KL(policy ‖ reference); ``weight`` is its coefficient β.

    With d = log π − log π_ref at the sampled token (Schulman, "Approximating KL divergence", joschu.net/blog/kl-approx.html):

    ======================  ======================  =========================================================================
    estimator               value                   gradient, in expectation over tokens sampled from the policy
    ======================  ======================  =========================================================================
    k1                      d                       0: it pulls nowhere. For measuring only
    k2                      d² / 2                  of KL(policy ‖ reference): the right one
    k3                      exp(−d) − 1 + d         of KL(reference ‖ policy): near the right one only while both are close
    k3_with_k2_gradient     that of k3              that of k2: unbiased value, right gradient
    ======================  ======================  =========================================================================

    k1 and k3 are unbiased as values, k2 is not; k3 is never negative. GRPO (arXiv 2402.03300, eq. 4) and Search-R1 use k3. From the
    second update of a step on, tokens come from the policy of before the step, which no estimator here corrects for.
    """

    estimator: Literal["k1", "k2", "k3", "k3_with_k2_gradient"] = option("k3", help="see the table above for value and gradient")

    unit: ClassVar[Literal["token"]] = "token"
    needs: ClassVar[frozenset[str]] = frozenset({"ref_logp"})

    def terms(self, batch: LossBatch) -> LossTerms:
        """[N] terms."""
        if batch.ref_logp_N is None:
            raise ValueError("kl got no log-probs of the reference, though it declares that it needs them")
        return LossTerms(term=self._estimate(batch.logp_N - batch.ref_logp_N))

    def _estimate(self, d_N: torch.Tensor) -> torch.Tensor:
        if self.estimator == "k1":
            return d_N
        d_N = d_N.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
        k2_N = d_N.square() / 2
        if self.estimator == "k2":
            return k2_N
        k3_N = (-d_N).expm1() + d_N
        return k3_N if self.estimator == "k3" else k2_N + (k3_N - k2_N).detach()
