"""The policy gradient under a clipped importance weight."""

from __future__ import annotations

import math

import pytest
import torch

from jackfield.loss_batch import LossBatch
from jackfield_ppo.cispo import Cispo


def batch(logp_N: torch.Tensor, old_logp: list[float], advantage: list[float]) -> LossBatch:
    """A batch of one rollout."""
    return LossBatch(
        logp_N=logp_N,
        old_logp_N=torch.tensor(old_logp, dtype=logp_N.dtype),
        rollout_N=torch.zeros(len(logp_N), dtype=torch.long),
        num_rollouts=1,
        group_R=torch.zeros(1, dtype=torch.long),
        num_groups=1,
        turn_end_S=torch.tensor([len(logp_N) - 1]),
        advantage_N=torch.tensor(advantage, dtype=logp_N.dtype),
        entropy_N=torch.zeros_like(logp_N),
    )


def test_hand_computed() -> None:
    """Pitfall 48: the clip is on the weight, which has no gradient; a token beyond it keeps its own.

    Ratios 1.5, 4, 0.5, 0.1 at log π = −1, clip to [0.25, 2]: weights 1.5, 2, 0.5, 0.25; A = 2, 2, −1, −1
    terms −w·A·(−1) = 3, 4, −0.5, −0.25; gradients −w·A = −3, −4, 0.5, 0.25
    """
    old_logp = [-1 - math.log(ratio) for ratio in (1.5, 4.0, 0.5, 0.1)]
    logp_N = torch.full((4,), -1.0, dtype=torch.float64, requires_grad=True)
    terms = Cispo(clip_low=0.75, clip_high=1.0).terms(batch(logp_N, old_logp, [2, 2, -1, -1]))
    assert terms.term.tolist() == pytest.approx([3.0, 4.0, -0.5, -0.25], abs=1e-12)
    assert terms.metrics["ratio"].tolist() == pytest.approx([1.5, 4.0, 0.5, 0.1], abs=1e-12)
    assert terms.metrics["clip_fraction"].tolist() == [0, 1, 0, 1]
    terms.term.sum().backward()
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == pytest.approx([-3.0, -4.0, 0.5, 0.25], abs=1e-12)


def test_the_default_has_no_bound_below() -> None:
    """As in the paper: a weight of e⁻¹⁰ stays what it is; above, 5 is the most."""
    logp_N = torch.tensor([-10.0, -1.0], dtype=torch.float64, requires_grad=True)
    Cispo().terms(batch(logp_N, [0.0, -11.0], [1.0, 1.0])).term.sum().backward()
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == pytest.approx([-math.exp(-10), -5.0], rel=1e-12)


def test_extreme_ratios_stay_finite() -> None:
    """Pitfall 27: log-ratios of ±200 overflow neither value nor gradient in float32."""
    logp_N = torch.tensor([-200.0, 0.0], requires_grad=True)
    terms = Cispo().terms(batch(logp_N, [0.0, -200.0], [-1.0, -1.0]))
    terms.term.sum().backward()
    assert logp_N.grad is not None
    for numbers in (terms.term, logp_N.grad, *terms.metrics.values()):
        assert torch.isfinite(numbers).all()
