"""Log-probabilities at the positions the policy wrote, in chunks: a [rows, tokens, vocabulary] tensor never exists.

Axes: N positions, C positions of one chunk, H hidden size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from jackfield.stages import LanguageModel


def token_logp(
    model: LanguageModel, hidden_NH: torch.Tensor, target_N: torch.Tensor, *, temperature: float, chunk: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """([N] log-prob of each target, [N] entropy of each distribution), in nats, under softmax(logits / temperature).

    At most ``chunk`` × V logits exist at once; with gradient they are computed again in the backward pass instead of kept.
    """
    import torch
    from torch.utils.checkpoint import checkpoint

    from jackfield.softmax import statistics

    def of_chunk(hidden_CH: torch.Tensor, target_C: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return statistics(model.logits(hidden_CH), target_C, temperature)

    parts = []
    for start in range(0, len(target_N), chunk):
        piece = hidden_NH[start : start + chunk], target_N[start : start + chunk]
        if torch.is_grad_enabled():
            parts.append(checkpoint(of_chunk, *piece, use_reentrant=False, preserve_rng_state=False))
        else:
            parts.append(of_chunk(*piece))
    if not parts:
        nothing = hidden_NH.sum(-1)
        return nothing, nothing
    return torch.cat([p[0] for p in parts]), torch.cat([p[1] for p in parts])
