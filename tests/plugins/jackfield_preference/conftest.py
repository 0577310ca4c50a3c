"""Batches of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from jackfield.loss_batch import LossBatch

MakeBatch = Callable[..., LossBatch]


@pytest.fixture
def make_batch() -> MakeBatch:
    """Groups as sequences of rollouts ``(side, token log-probs)``; ``ref_logp`` is flat, ``score`` one a rollout."""

    def make(
        groups: Sequence[Sequence[tuple[float, Sequence[float]]]],
        *,
        logp: torch.Tensor | None = None,
        ref_logp: Any = None,
        score: torch.Tensor | None = None,
    ) -> LossBatch:
        rollouts = [rollout for group in groups for rollout in group]
        lengths = torch.tensor([len(tokens) for _, tokens in rollouts])
        flat = torch.tensor([x for _, tokens in rollouts for x in tokens], dtype=torch.float64)
        sides = torch.tensor([float(side) for side, _ in rollouts], dtype=torch.float64)
        logp_N = flat.requires_grad_() if logp is None else logp
        return LossBatch(
            logp_N=logp_N,
            old_logp_N=logp_N.detach(),
            rollout_N=torch.repeat_interleave(torch.arange(len(rollouts)), lengths),
            num_rollouts=len(rollouts),
            group_R=torch.repeat_interleave(torch.arange(len(groups)), torch.tensor([len(group) for group in groups])),
            num_groups=len(groups),
            turn_end_S=lengths.cumsum(0) - 1,
            advantage_N=torch.repeat_interleave(sides, lengths).to(logp_N.dtype),
            entropy_N=torch.zeros_like(logp_N),
            ref_logp_N=None if ref_logp is None else torch.as_tensor(ref_logp, dtype=logp_N.dtype),
            score_R=score,
        )

    return make
