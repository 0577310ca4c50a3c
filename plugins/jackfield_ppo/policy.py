"""The clipped surrogate objective."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from attrs import frozen

from jackfield.component import at_least, fraction, option
from jackfield.loss_batch import LossBatch, LossTerms
from jackfield_ppo.ratio import approx_kl, log_ratio


def _above_one(value: Any) -> str | None:
    return None if value is None or value > 1 else f"must be above 1 or unset, found {value}"


@frozen(kw_only=True)
class PpoClip:
    """Clipped policy loss: max(−A·ρ, −A·clip(ρ, 1 − clip_low, 1 + clip_high)), ρ = π(token) / π_old(token), a term per token.

    Schulman et al. 2017 (arXiv 1707.06347, eq. 7). Different bounds below and above are DAPO's clip-higher (arXiv 2503.14476).
    ``dual_clip`` c bounds the term of tokens with a negative advantage by c·|A| (Ye et al. 2019, arXiv 1912.09729, eq. 5), since
    eq. 7 does not bound it where the ratio is large.

    Its parts can be taken off one by one, to see what each is good for (they differ from a step's second update on; in the first, ρ = 1):

    ======================  ================================  ==================================================================
    in the recipe           term                              what is lost
    ======================  ================================  ==================================================================
    (as it is)              max(−A·ρ, −A·clip(ρ))
    ``pessimistic = false`` −A·clip(ρ)                        the min of eq. 7: a token that moved the wrong way, beyond the
                                                              clip, is no longer pulled back
    ``clip = false``        −A·ρ                              the clip (and with it the min): nothing bounds a step
    ``use = "reinforce"``   −A·log π                          the ratio as well: old tokens count as if just sampled
    ======================  ================================  ==================================================================

    Metrics: ``ratio``; ``approx_kl``, the k3 estimate (ρ − 1) − log ρ of KL(π_old ‖ π); ``clip_fraction``, the share of tokens
    whose term is the clipped one and so has no gradient; ``dual_clip_fraction``, as that, where ``dual_clip`` is set.
    """

    clip_low: float = option(0.2, help="the ratio is clipped below 1 − clip_low", check=fraction)
    clip_high: float = option(0.2, help="the ratio is clipped above 1 + clip_high", check=at_least(0))
    dual_clip: float | None = option(
        None, help="bound of the term, in |advantage|, where the advantage is negative; unset: none", check=_above_one
    )
    clip: bool = option(True, help="clip the ratio at all; false for ablation: clip_low and clip_high do nothing")
    pessimistic: bool = option(
        True, help="take the worse of the clipped and the free objective (the min of eq. 7); false for ablation: always the clipped"
    )

    unit: ClassVar[Literal["token"]] = "token"
    needs: ClassVar[frozenset[str]] = frozenset({"old_logp"})
    silent_without_advantage: ClassVar[bool] = True

    def terms(self, batch: LossBatch) -> LossTerms:
        """[N] terms."""
        import torch

        log_ratio_N = log_ratio(batch)
        ratio_N = log_ratio_N.exp()
        term_N = free_N = -batch.advantage_N * ratio_N
        clipped_N = torch.zeros_like(ratio_N, dtype=torch.bool)
        if self.clip:
            held_N = ratio_N.clamp(1 - self.clip_low, 1 + self.clip_high)
            term_N, clipped_N = -batch.advantage_N * held_N, held_N != ratio_N
            if self.pessimistic:
                clipped_N = term_N > free_N
                term_N = torch.maximum(free_N, term_N)
        metrics = {"ratio": ratio_N.detach(), "approx_kl": approx_kl(log_ratio_N), "clip_fraction": clipped_N.to(ratio_N.dtype)}
        if self.dual_clip is not None:
            bounded_N = torch.minimum(term_N, -batch.advantage_N * self.dual_clip)
            cut_N = (batch.advantage_N < 0) & (bounded_N < term_N)
            term_N = torch.where(batch.advantage_N < 0, bounded_N, term_N)
            metrics["dual_clip_fraction"] = cut_N.to(ratio_N.dtype)
        return LossTerms(term=term_N, metrics=metrics)
