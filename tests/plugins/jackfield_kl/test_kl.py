"""The KL to the reference, in the loss and in the reward."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from jackfield.stages import LossBatch
from jackfield.types import Finish, Measured, Segment, Task
from jackfield_kl.loss import Kl
from jackfield_kl.penalty import Kl as KlPenalty

ESTIMATORS = ("k1", "k2", "k3", "k3_with_k2_gradient")


def batch(logp: Any, ref_logp: Any, dtype: torch.dtype = torch.float64) -> LossBatch:
    """A batch of one rollout."""
    logp_N = torch.as_tensor(logp, dtype=dtype)
    zeros = torch.zeros(len(logp_N))
    return LossBatch(
        logp_N=logp_N,
        old_logp_N=logp_N.detach(),
        rollout_N=zeros.long(),
        num_rollouts=1,
        advantage_N=zeros,
        entropy_N=zeros,
        ref_logp_N=torch.as_tensor(ref_logp, dtype=dtype),
    )


def measured(old_logp: list[float], ref_logp: list[float]) -> Measured:
    """A rollout ``P A E A`` with these log-probs."""
    writers = ("task", "policy", "environment", "policy")
    return Measured(
        task=Task(id="t", prompt=()),
        member=0,
        segments=tuple(Segment(tokens=np.zeros(1, np.int64), writer=w) for w in writers),
        finish=Finish(reason="eos"),
        verdicts={},
        reward=0.0,
        token_reward=np.zeros(4),
        old_logp=np.array(old_logp, np.float32),
        ref_logp=np.array(ref_logp, np.float32),
    )


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_hand_computed(estimator: str) -> None:
    """d = log π − log π_ref = ln 2 and −ln 2.

    k1: ±0.693147;  k2: 0.480453 / 2 = 0.240227 twice;  k3: ½ − 1 + 0.693147 = 0.193147 and 2 − 1 − 0.693147 = 0.306853
    """
    expected = {"k1": [0.693147, -0.693147], "k2": [0.240227, 0.240227], "k3": [0.193147, 0.306853]}
    logp = [math.log(0.5), math.log(0.25)]
    term = Kl(estimator=estimator).terms(batch(logp, [math.log(0.25), math.log(0.5)])).term
    assert term.tolist() == pytest.approx(expected[estimator[:2]], abs=1e-6)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_value_and_gradient_match_plain_loops(estimator: str) -> None:
    """Slopes by d: k1 1, k2 d, k3 1 − exp(−d), and k3_with_k2_gradient has the value of k3 and the slope of k2."""
    differences = [-3.0, -0.5, -1e-4, 0.0, 1e-4, 0.5, 3.0]
    values = {"k1": lambda d: d, "k2": lambda d: d * d / 2, "k3": lambda d: math.exp(-d) - 1 + d}
    slopes = {"k1": lambda d: 1.0, "k2": lambda d: d, "k3": lambda d: 1 - math.exp(-d)}
    logp_N = torch.tensor([d - 2 for d in differences], dtype=torch.float64, requires_grad=True)
    term = Kl(estimator=estimator).terms(batch(logp_N, [-2.0] * len(differences))).term
    assert term.tolist() == pytest.approx([values[estimator[:2]](d) for d in differences], abs=1e-12)
    term.sum().backward()
    slope = slopes["k2" if estimator.endswith("gradient") else estimator]
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == pytest.approx([slope(d) for d in differences], abs=1e-12)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_expected_value_and_gradient(estimator: str) -> None:
    """Pitfall 26: over all tokens of a small vocabulary, weighted by π, value and gradient are what the docstring's table says."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(6, generator=generator, dtype=torch.float64).requires_grad_()
    ref_logp = torch.randn(6, generator=generator, dtype=torch.float64).log_softmax(0)
    logp = logits.log_softmax(0)
    weights = logp.detach().exp()

    def gradient_of(value: torch.Tensor) -> list[float]:
        return torch.autograd.grad(value, logits, retain_graph=True)[0].tolist()

    reverse_kl = (logp.exp() * (logp - ref_logp)).sum()
    forward_kl = (ref_logp.exp() * (ref_logp - logp)).sum()
    expected = {"k1": [0.0] * 6, "k2": gradient_of(reverse_kl), "k3": gradient_of(forward_kl)}
    estimate = (weights * Kl(estimator=estimator).terms(batch(logp, ref_logp)).term).sum()
    assert gradient_of(estimate) == pytest.approx(expected["k2" if estimator.endswith("gradient") else estimator], abs=1e-12)
    if estimator != "k2":
        assert estimate.item() == pytest.approx(reverse_kl.item(), abs=1e-12)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_extreme_differences_stay_finite(estimator: str) -> None:
    """Pitfall 27: a difference of ±200 nats overflows neither value nor gradient in float32."""
    logp_N = torch.tensor([0.0, -200.0], requires_grad=True)
    term = Kl(estimator=estimator).terms(batch(logp_N, [-200.0, 0.0], torch.float32)).term
    term.sum().backward()
    assert logp_N.grad is not None
    assert torch.isfinite(term).all()
    assert torch.isfinite(logp_N.grad).all()


def test_a_policy_equal_to_the_reference_pays_exactly_nothing() -> None:
    """All estimators are 0 at d = 0, in float32 too."""
    for estimator in ESTIMATORS:
        assert Kl(estimator=estimator).terms(batch([-1.2345, -7.0], [-1.2345, -7.0], torch.float32)).term.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("estimator", "expected"), [("k1", [0.0693147, -0.0693147]), ("k2", [0.0240227] * 2), ("k3", [0.0193147, 0.0306853])]
)
def test_penalty_hand_computed(estimator: str, expected: list[float]) -> None:
    """0.1 × the estimates of d = ±ln 2 on the two policy tokens, 0 elsewhere."""
    nan = float("nan")
    half, quarter = math.log(0.5), math.log(0.25)
    rollout = measured([nan, half, nan, quarter], [nan, quarter, nan, half])
    penalty = KlPenalty(coefficient=0.1, estimator=estimator).penalty(rollout)
    assert penalty.tolist() == pytest.approx([0, expected[0], 0, expected[1]], abs=1e-7)
    assert penalty.dtype == np.float64


@pytest.mark.parametrize("fill", [float("nan"), float("inf"), 1e30])
def test_penalty_reads_policy_tokens_only(fill: float) -> None:
    """Pitfalls 28, 29: what stands at observations, or after the end, changes nothing."""
    penalty = KlPenalty(coefficient=1.0, estimator="k3")
    reference = penalty.penalty(measured([0, -1, 0, -2], [0, -1.5, 0, -1.5])).tolist()
    assert penalty.penalty(measured([fill, -1, fill, -2], [fill, -1.5, fill, -1.5])).tolist() == reference


def test_penalty_is_bounded() -> None:
    """Pitfall 27: log-ratios of ±200 are cut at ±20."""
    rollout = measured([0, 0, 0, -200], [0, -200, 0, 0])
    assert KlPenalty(coefficient=1.0).penalty(rollout).tolist() == [0, 20, 0, -20]
    assert np.isfinite(KlPenalty(coefficient=1.0, estimator="k3").penalty(rollout)).all()


def test_a_coefficient_of_zero_needs_nothing() -> None:
    """No reference is held for it, and none is read."""
    rollout = Measured(
        task=Task(id="t", prompt=()),
        member=0,
        segments=(Segment(tokens=np.zeros(2, np.int64), writer="policy"),),
        finish=Finish(reason="eos"),
        verdicts={},
        reward=0.0,
        token_reward=np.zeros(2),
    )
    assert KlPenalty(coefficient=0.0).needs == frozenset()
    assert KlPenalty(coefficient=0.0).penalty(rollout).tolist() == [0.0, 0.0]
    assert KlPenalty(coefficient=0.001).needs == {"old_logp", "ref_logp"}


def test_the_coefficient_is_the_users_decision() -> None:
    """There is no default, and a negative one is refused."""
    with pytest.raises(TypeError):
        KlPenalty()
    with pytest.raises(ValueError, match="coefficient: must be at least 0"):
        KlPenalty(coefficient=-0.1)
