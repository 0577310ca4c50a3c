from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from jackfield.softmax import statistics

Of = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
TARGET = torch.tensor([2, 0, 4, 4])


@pytest.fixture
def logits() -> torch.Tensor:
    return torch.randn(4, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64).mul_(3).requires_grad_()


def reference(logits_CV: torch.Tensor, temperature: float) -> tuple[torch.Tensor, torch.Tensor]:
    """By torch's own log-softmax and its own gradient."""
    log_p_CV = torch.log_softmax(logits_CV / temperature, -1)
    return log_p_CV.gather(1, TARGET[:, None]).squeeze(1), -(log_p_CV.exp() * log_p_CV).sum(-1)


def test_by_hand() -> None:
    """p = (1/4, 3/4): ln 1/4, and the entropy ln 4 − 3/4 ln 3; at temperature 1/2, p = (1/10, 9/10)."""
    logits = torch.tensor([[1.0, 3.0]], dtype=torch.float64).log()
    assert [float(found) for found in statistics(logits, torch.tensor([0]), 1.0)] == pytest.approx([-1.386294, 0.562335], abs=1e-6)
    assert [float(found) for found in statistics(logits, torch.tensor([0]), 0.5)] == pytest.approx([-2.302585, 0.325083], abs=1e-6)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize(
    "of",
    [
        pytest.param(lambda logp, entropy: (logp * torch.arange(1.0, 5.0)).sum(), id="log-prob"),
        pytest.param(lambda logp, entropy: (entropy * torch.arange(1.0, 5.0)).sum(), id="entropy"),
        pytest.param(lambda logp, entropy: (logp.exp() - 0.3 * entropy).sum(), id="both"),
    ],
)
def test_values_and_gradients_are_those_of_log_softmax(logits: torch.Tensor, of: Of, temperature: float) -> None:
    found, want = statistics(logits, TARGET, temperature), reference(logits, temperature)
    torch.testing.assert_close(found, want, rtol=1e-12, atol=1e-12)
    (gradient,) = torch.autograd.grad(of(*found), logits)
    (wanted,) = torch.autograd.grad(of(*want), logits)
    torch.testing.assert_close(gradient, wanted, rtol=1e-12, atol=1e-12)


def test_the_gradient_is_that_of_finite_differences(logits: torch.Tensor) -> None:
    assert torch.autograd.gradcheck(lambda given: statistics(given, TARGET, 0.7), logits)


def test_neither_the_logits_nor_what_was_read_off_them_is_written_on(logits: torch.Tensor) -> None:
    before = logits.detach().clone()
    logp, entropy = statistics(logits, TARGET, 1.0)
    kept = logp.detach().clone(), entropy.detach().clone()
    (logp.sum() + entropy.sum()).backward()
    assert torch.equal(logits, before)
    assert torch.equal(logp, kept[0])
    assert torch.equal(entropy, kept[1])


def test_far_apart_logits_stay_finite() -> None:
    logits = torch.tensor([[1e4, -1e4, 0.0]], requires_grad=True)
    logp, entropy = statistics(logits, torch.tensor([1]), 1.0)
    (logp + entropy).sum().backward()
    assert logp.item() == -2e4
    assert entropy.item() == 0.0
    assert logits.grad is not None
    assert logits.grad.tolist() == [[-1.0, 1.0, 0.0]]
