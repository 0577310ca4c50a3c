"""The policy gradient under a clipped importance weight."""

from __future__ import annotations

from typing import ClassVar, Literal

from attrs import frozen

from jackfield.component import at_least, fraction, option
from jackfield.loss_batch import LossBatch, LossTerms
from jackfield_ppo.ratio import approx_kl, log_ratio


@frozen(kw_only=True)
class Cispo:
    """−w · A · log π(token) per token, the weight w = clip(π / π_old, 1 − clip_low, 1 + clip_high) without gradient.

    CISPO (MiniMax-M1, arXiv 2506.13585, eq. 4 and 5). What PPO clips loses its gradient, above all rare tokens that a first update
    made likelier; here every token keeps its own, and the clip only bounds what it weighs. The paper's objective divides by all
    tokens: ``learn.aggregation = "token_mean"``. It leaves the weight unbounded below, as the default here does, and gives no number
    for the bound above: 1 + clip_high = 5 is ours, to be chosen for the task.

    As with ``reinforce``, only the gradient means something, not the value.

    Metrics: ``ratio``; ``approx_kl``, the k3 estimate of KL(π_old ‖ π); ``clip_fraction``, the share of tokens whose weight is clipped.
    """

    clip_low: float = option(1.0, help="the weight is clipped below 1 − clip_low; 1: not at all", check=fraction)
    clip_high: float = option(4.0, help="the weight is clipped above 1 + clip_high", check=at_least(0))

    unit: ClassVar[Literal["token"]] = "token"
    needs: ClassVar[frozenset[str]] = frozenset({"old_logp"})
    silent_without_advantage: ClassVar[bool] = True

    def terms(self, batch: LossBatch) -> LossTerms:
        """[N] terms."""
        log_ratio_N = log_ratio(batch).detach()
        ratio_N = log_ratio_N.exp()
        weight_N = ratio_N.clamp(1 - self.clip_low, 1 + self.clip_high)
        metrics = {
            "ratio": ratio_N,
            "approx_kl": approx_kl(log_ratio_N),
            "clip_fraction": (weight_N != ratio_N).to(ratio_N.dtype),
        }
        return LossTerms(term=-weight_N * batch.advantage_N * batch.logp_N, metrics=metrics)
