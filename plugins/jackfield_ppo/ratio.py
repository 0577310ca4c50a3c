"""How far the policy has moved since the step began."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jackfield.loss_batch import LossBatch

if TYPE_CHECKING:
    import torch

LOG_RATIO_LIMIT = 20.0
"""Log-ratios beyond this are cut before exp, which would overflow fp32 at 88."""


def log_ratio(batch: LossBatch) -> torch.Tensor:
    """[N] log π(token) − log π_old(token), in nats, within ± LOG_RATIO_LIMIT, with gradient."""
    return (batch.logp_N - batch.old_logp_N).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)


def approx_kl(log_ratio_N: torch.Tensor) -> torch.Tensor:
    """[N] the k3 estimate (ρ − 1) − log ρ of KL(π_old ‖ π), detached."""
    log_ratio_N = log_ratio_N.detach()
    return log_ratio_N.expm1() - log_ratio_N
