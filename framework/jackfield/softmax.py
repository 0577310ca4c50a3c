"""What is read off rows of logits, with a gradient that is computed in place: rows are as long as the vocabulary, so passes over them and
copies of them are what learning's last part costs.

Axes: C positions, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch


def statistics(logits_CV: torch.Tensor, target_C: torch.Tensor, temperature: float) -> tuple[torch.Tensor, torch.Tensor]:
    """([C] log-prob of each target, [C] entropy), in nats, under p = softmax(logits / temperature).

    Their gradients, with z the scaled logits and H the entropy: ∂ log p_t / ∂z = onehot(t) − p, ∂H / ∂z_j = −p_j (log p_j + H). They exist
    once: the second derivative does not.
    """
    found: tuple[torch.Tensor, torch.Tensor] = _Statistics.apply(logits_CV, target_C, temperature)  # type: ignore[no-untyped-call]
    return found


class _Statistics(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits_CV: torch.Tensor, target_C: torch.Tensor, temperature: float) -> tuple[torch.Tensor, torch.Tensor]:
        scaled_CV = logits_CV if temperature == 1.0 else logits_CV / temperature
        log_z_C = scaled_CV.logsumexp(-1)
        logp_C = scaled_CV.gather(1, target_C[:, None]).squeeze(1) - log_z_C
        entropy_C = log_z_C - (_probabilities(scaled_CV, log_z_C).mul_(scaled_CV)).sum(-1)
        ctx.save_for_backward(scaled_CV, target_C, log_z_C, entropy_C)
        ctx.temperature = temperature
        ctx.set_materialize_grads(False)
        return logp_C, entropy_C

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple[torch.Tensor | None, None, None]:
        of_logp_C, of_entropy_C = gradients
        scaled_CV, target_C, log_z_C, entropy_C = ctx.saved_tensors
        gradient_CV = _probabilities(scaled_CV, log_z_C)
        if of_entropy_C is not None:
            share_C = of_entropy_C * (log_z_C - entropy_C) - (0.0 if of_logp_C is None else of_logp_C)
            gradient_CV.mul_(torch.addcmul(share_C[:, None], scaled_CV, of_entropy_C[:, None], value=-1))
        elif of_logp_C is not None:
            gradient_CV.mul_(-of_logp_C[:, None])
        else:
            return None, None, None
        if of_logp_C is not None:
            gradient_CV.scatter_add_(1, target_C[:, None], of_logp_C[:, None])
        return gradient_CV.div_(ctx.temperature), None, None


def _probabilities(scaled_CV: torch.Tensor, log_z_C: torch.Tensor) -> torch.Tensor:
    return (scaled_CV - log_z_C[:, None]).exp_()
