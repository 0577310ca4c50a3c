"""The clipped objective with one ratio a rollout."""

from __future__ import annotations

import math

import pytest
import torch

from jackfield.loss_batch import LossBatch
from jackfield_ppo.gspo import Gspo


def batch(logp_N: torch.Tensor, old_logp: list[float], advantage: list[float], lengths: list[int]) -> LossBatch:
    """A batch of rollouts of these lengths, one group."""
    return LossBatch(
        logp_N=logp_N,
        old_logp_N=torch.tensor(old_logp, dtype=logp_N.dtype),
        rollout_N=torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths)),
        num_rollouts=len(lengths),
        group_R=torch.zeros(len(lengths), dtype=torch.long),
        num_groups=1,
        turn_end_S=torch.tensor(lengths).cumsum(0) - 1,
        advantage_N=torch.tensor(advantage, dtype=logp_N.dtype),
        entropy_N=torch.zeros_like(logp_N),
    )


def test_hand_computed() -> None:
    """Token ratios (4, 1), (1.5) and (0.25, 1): s = √4 = 2, 1.5 and √0.25 = 0.5; with ε = 0.5 below and 0.8 above

    A = 1:   −2 against −1.8       → −1.8 twice (clipped, no gradient)
    A = 2:   −3 against −3         → −3, gradient −A·s = −3
    A = −1:  0.5 against 0.5       → 0.5 twice, gradient 0.5 each
    """
    logp_N = torch.log(torch.tensor([4.0, 1.0, 1.5, 0.25, 1.0], dtype=torch.float64)).requires_grad_()
    terms = Gspo(clip_low=0.5, clip_high=0.8).terms(batch(logp_N, [0.0] * 5, [1, 1, 2, -1, -1], [2, 1, 2]))
    assert terms.term.tolist() == pytest.approx([-1.8, -1.8, -3.0, 0.5, 0.5], abs=1e-12)
    assert terms.metrics["ratio"].tolist() == pytest.approx([2.0, 1.5, 0.5], abs=1e-12)
    assert terms.metrics["clip_fraction"].tolist() == [1, 1, 0, 0, 0]
    assert terms.metrics["approx_kl"].tolist() == pytest.approx(
        [3 - math.log(4), 0, 0.5 - math.log(1.5), -0.75 + math.log(4), 0], abs=1e-12
    )
    terms.term.sum().backward()
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == pytest.approx([0, 0, -3.0, 0.5, 0.5], abs=1e-12)


def test_under_sequence_mean_it_is_the_papers_objective() -> None:
    """With one advantage a rollout, the mean of token means has the value and the gradient of eq. 5, s differentiated as a whole."""
    draw = torch.Generator().manual_seed(5)
    lengths, loss = [3, 1, 7, 4, 5, 2], Gspo(clip_low=0.01, clip_high=0.02)
    tokens = sum(lengths)
    old_logp_N = torch.randn(tokens, generator=draw, dtype=torch.float64) - 2
    logp_N = (old_logp_N + 0.2 * torch.randn(tokens, generator=draw, dtype=torch.float64)).requires_grad_()
    advantage_R = torch.tensor([1.0, -0.5, -2.0, 0.7, 1.5, -1.0], dtype=torch.float64)
    lengths_R = torch.tensor(lengths, dtype=torch.float64)
    given = batch(
        logp_N, old_logp_N.tolist(), [a for a, n in zip(advantage_R.tolist(), lengths, strict=True) for _ in range(n)], lengths
    )
    ours = (given.sum_by_rollout(loss.terms(given).term) / lengths_R).sum() / 6

    starts = [0, *torch.tensor(lengths).cumsum(0).tolist()]
    papers = []
    for i, advantage in enumerate(advantage_R):
        rollout = slice(starts[i], starts[i + 1])
        s = (logp_N[rollout] - old_logp_N[rollout]).mean().exp()
        papers.append(torch.min(s * advantage, s.clamp(0.99, 1.02) * advantage))
    objective = torch.stack(papers).mean()
    assert ours.item() == pytest.approx(-objective.item(), abs=1e-12)
    [our_gradient], [gradient] = (torch.autograd.grad(x, logp_N, retain_graph=True) for x in (ours, -objective))
    torch.testing.assert_close(our_gradient, gradient, rtol=0, atol=1e-12)
    clipped = {bool((gradient[starts[i] : starts[i + 1]] == 0).all()) for i in range(6)}
    assert clipped == {True, False}, "the example must hold rollouts on both sides of the clip"


def test_extreme_ratios_stay_finite() -> None:
    """Pitfall 27: log-ratios of ±200 overflow neither value nor gradient in float32."""
    logp_N = torch.tensor([-200.0, 0.0], requires_grad=True)
    terms = Gspo().terms(batch(logp_N, [0.0, -200.0], [-1.0, -1.0], [1, 1]))
    terms.term.sum().backward()
    assert logp_N.grad is not None
    for numbers in (terms.term, logp_N.grad, *terms.metrics.values()):
        assert torch.isfinite(numbers).all()


def test_the_papers_clip_is_the_default() -> None:
    """Section 5.1: 3e-4 below, 4e-4 above; bounds out of range are refused."""
    assert (Gspo().clip_low, Gspo().clip_high) == (3e-4, 4e-4)
    with pytest.raises(ValueError, match="clip_low: must"):
        Gspo(clip_low=1.5)
