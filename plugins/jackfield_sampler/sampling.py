"""Draw one token a row from softmax(z / T), exactly, with its log-probability.

Inverse-CDF sampling in two stages: one uniform number picks a block of the vocabulary by block sums and then a token inside
that block, so that no sum runs over the whole vocabulary in order. Axes: R rows, V vocabulary, B blocks.
"""

from __future__ import annotations

import torch

BLOCK = 256
"""Tokens of a block."""


def draw(logits_RV: torch.Tensor, temperature_R: torch.Tensor, uniform_R: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids [R] and their log-probabilities [R] (float64) under softmax(z / T), taken in fp32 or better.

    temperature_R: T of each row; 0 takes the most likely token, whose log-probability is then that of T = 1.
    uniform_R: float64 numbers in [0, 1), the only randomness.
    Raises FloatingPointError if the logits of a row hold NaN or +inf.
    """
    z_RV = logits_RV if logits_RV.dtype == torch.float64 else logits_RV.float()
    greedy_R = temperature_R == 0
    scale_R = torch.where(greedy_R, 1.0, temperature_R).to(z_RV.dtype)
    if not bool((scale_R == 1).all()):
        z_RV = z_RV / scale_R[:, None]
    top_R1 = z_RV.amax(-1, keepdim=True)
    weight_RBK = _weights(z_RV, top_R1)
    up_to_RB = weight_RBK.sum(-1).double().cumsum(-1)
    total_R1 = up_to_RB[:, -1:]
    if not bool(total_R1.isfinite().all()):
        raise FloatingPointError("the policy's logits are not finite: its weights have diverged")

    target_R1 = uniform_R[:, None] * total_R1
    block_R1 = _first_above(up_to_RB, target_R1)
    before_R1 = up_to_RB.gather(1, block_R1) - weight_RBK.sum(-1).double().gather(1, block_R1)
    inside_RK = weight_RBK.gather(1, block_R1[:, :, None].expand(-1, 1, BLOCK)).squeeze(1).double().cumsum(-1)
    token_R = (block_R1 * BLOCK + _first_above(inside_RK, target_R1 - before_R1)).squeeze(1)
    if bool(greedy_R.any()):
        token_R = torch.where(greedy_R, z_RV.argmax(-1), token_R)
    logp_R = (z_RV.gather(1, token_R[:, None]).double() - top_R1.double() - total_R1.log()).squeeze(1)
    return token_R, logp_R


def _weights(z_RV: torch.Tensor, top_R1: torch.Tensor) -> torch.Tensor:
    """[R, B, BLOCK] exp(z - max), zero behind the end of the vocabulary."""
    rows, vocabulary = z_RV.shape
    blocks = -(-vocabulary // BLOCK)
    weight = z_RV.new_empty(rows, blocks * BLOCK)
    weight[:, vocabulary:] = 0
    torch.sub(z_RV, top_R1, out=weight[:, :vocabulary])
    weight[:, :vocabulary].exp_()
    return weight.view(rows, blocks, BLOCK)


def _first_above(cumulative: torch.Tensor, target_R1: torch.Tensor) -> torch.Tensor:
    """[R, 1] first index whose cumulative sum exceeds the target: it has weight above 0, because the sum rises there.

    Rounding may put the target at or past the end (or below 0 in a block): it is moved to just below the end.
    """
    end_R1 = cumulative[:, -1:]
    below_end_R1 = torch.nextafter(end_R1, torch.zeros_like(end_R1))
    return torch.searchsorted(cumulative, torch.minimum(target_R1, below_end_R1).clamp(min=0), right=True)
