"""The plain policy gradient."""

from __future__ import annotations

import pytest
import torch

from jackfield.loss_batch import LossBatch
from jackfield_ppo.reinforce import Reinforce
from jackfield_sft.loss import CrossEntropy


def batch(logp_N: torch.Tensor, advantage_N: torch.Tensor) -> LossBatch:
    """A batch of one rollout."""
    return LossBatch(
        logp_N=logp_N,
        old_logp_N=logp_N.detach(),
        rollout_N=torch.zeros(len(logp_N), dtype=torch.long),
        num_rollouts=1,
        group_R=torch.zeros(1, dtype=torch.long),
        num_groups=1,
        turn_end_S=torch.tensor([len(logp_N) - 1]),
        advantage_N=advantage_N,
        entropy_N=torch.zeros_like(logp_N),
    )


def test_hand_computed() -> None:
    """−A · log π: −2 · −0.5 = 1, 3 · −2 = −6, and an advantage of 0 gives 0; the gradient is −A."""
    logp_N = torch.tensor([-0.5, -2.0, -1.0], dtype=torch.float64, requires_grad=True)
    term = Reinforce().terms(batch(logp_N, torch.tensor([2.0, -3.0, 0.0], dtype=torch.float64))).term
    assert term.tolist() == [1.0, -6.0, 0.0]
    term.sum().backward()
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == [-2.0, 3.0, 0.0]


def test_with_advantages_of_one_it_is_cross_entropy() -> None:
    """Fine-tuning is the policy gradient of answers all worth 1: the same terms, and gradients of a model's weights, bit for bit."""
    draw = torch.Generator().manual_seed(3)
    inputs_NH = torch.randn(50, 8, generator=draw, dtype=torch.float64)
    weight_HV = torch.randn(8, 11, generator=draw, dtype=torch.float64).requires_grad_()
    target_N = torch.randint(11, (50,), generator=draw)
    results = []
    for loss in (Reinforce(), CrossEntropy()):
        logp_N = (inputs_NH @ weight_HV).log_softmax(-1).gather(1, target_N[:, None]).squeeze(1)
        term = loss.terms(batch(logp_N, torch.ones(50, dtype=torch.float64))).term
        results.append((term.detach(), torch.autograd.grad(term.sum() / 50, weight_HV)[0]))
    (ours, our_gradient), (theirs, their_gradient) = results
    assert torch.equal(ours, theirs)
    assert torch.equal(our_gradient, their_gradient)
    assert their_gradient.abs().max() > 0


def test_what_it_asks_for() -> None:
    """It needs no old log-probs and lets the core skip rollouts without advantage."""
    assert not hasattr(Reinforce, "needs")
    assert Reinforce.silent_without_advantage
    with pytest.raises(TypeError):
        Reinforce(clip_low=0.2)
