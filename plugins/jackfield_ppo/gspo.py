"""The clipped objective with one ratio a rollout."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from attrs import frozen

from jackfield.component import at_least, fraction, option
from jackfield.loss_batch import LossBatch, LossTerms
from jackfield_ppo.ratio import approx_kl, log_ratio

if TYPE_CHECKING:
    import torch


@frozen(kw_only=True)
class Gspo:
    """max(−A·s, −A·clip(s, 1 − clip_low, 1 + clip_high)) per token, s the geometric mean of the rollout's ratios π / π_old.

    Group sequence policy optimisation (Zheng et al. 2025, arXiv 2507.18071): s is eq. 7, over the tokens that the policy wrote, so
    that a rollout is clipped whole or not at all. The terms are the paper's GSPO-token (eq. 13 and 14): every token's ratio has the
    value s and the gradient of s · log π(token). A term a token, not a rollout, so that estimators with an advantage for every token
    (GAE, a penalty) can be used, and ``learn.aggregation`` means what it means for every loss. With one advantage a rollout and
    ``learn.aggregation = "sequence_mean"``, value and gradient are those of the paper's objective, eq. 5; with ``token_mean`` long
    rollouts weigh more.

    s stays far nearer to 1 than the ratio of a token, hence the narrow clip (the paper's, section 5.1). In the first update of a step
    s = 1 and the gradient is the plain policy gradient.

    Metrics: ``ratio``, s of every rollout; ``approx_kl`` of tokens, the k3 estimate of KL(π_old ‖ π); ``clip_fraction``, the share of
    tokens without gradient since their rollout is clipped.
    """

    clip_low: float = option(3e-4, help="s is clipped below 1 − clip_low", check=fraction)
    clip_high: float = option(4e-4, help="s is clipped above 1 + clip_high", check=at_least(0))

    unit: ClassVar[Literal["token"]] = "token"
    needs: ClassVar[frozenset[str]] = frozenset({"old_logp"})
    silent_without_advantage: ClassVar[bool] = True

    def terms(self, batch: LossBatch) -> LossTerms:
        """[N] terms."""
        import torch

        log_ratio_N = log_ratio(batch)
        ratio_R = self.ratio(batch, log_ratio_N.detach())
        ratio_N = ratio_R[batch.rollout_N] * (batch.logp_N - batch.logp_N.detach()).exp()  # the factor is 1, with a gradient
        free_N = -batch.advantage_N * ratio_N
        clipped_N = -batch.advantage_N * ratio_N.clamp(1 - self.clip_low, 1 + self.clip_high)
        metrics = {
            "ratio": ratio_R,
            "approx_kl": approx_kl(log_ratio_N),
            "clip_fraction": (clipped_N > free_N).to(ratio_N.dtype),
        }
        return LossTerms(term=torch.maximum(free_N, clipped_N), metrics=metrics)

    def ratio(self, batch: LossBatch, log_ratio_N: torch.Tensor) -> torch.Tensor:
        """[R] the geometric means."""
        lengths_R = batch.sum_by_rollout(log_ratio_N.new_ones(len(log_ratio_N)))
        return (batch.sum_by_rollout(log_ratio_N) / lengths_R).exp()
