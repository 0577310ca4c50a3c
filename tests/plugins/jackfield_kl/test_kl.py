"""The KL to the reference, in the loss and in the reward."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from jackfield.loss_batch import LossBatch
from jackfield.types import Finish, Measured, Segment, Task
from jackfield_kl.loss import Kl
from jackfield_kl.penalty import Kl as KlPenalty

ESTIMATORS = ("k1", "k2", "k3", "k1_with_k2_gradient", "k3_with_k2_gradient", "k3_times_ratio")
RIGHT_GRADIENT = {"k2", "k1_with_k2_gradient", "k3_with_k2_gradient", "k3_times_ratio"}


def batch(logp: Any, ref_logp: Any, dtype: torch.dtype = torch.float64, old_logp: Any = None) -> LossBatch:
    """A batch of one rollout, by default in a step's first update."""
    logp_N = torch.as_tensor(logp, dtype=dtype)
    zeros = torch.zeros(len(logp_N))
    return LossBatch(
        logp_N=logp_N,
        old_logp_N=logp_N.detach() if old_logp is None else torch.as_tensor(old_logp, dtype=dtype),
        rollout_N=zeros.long(),
        num_rollouts=1,
        group_R=torch.zeros(1, dtype=torch.long),
        num_groups=1,
        turn_end_S=torch.tensor([len(zeros) - 1]),
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
        old_logp=np.array(old_logp),
        ref_logp=np.array(ref_logp),
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
    """Slopes by d: k1 1, k2 d, k3 1 − exp(−d); those with another's gradient have that slope, and k3_times_ratio has it at ρ = 1."""
    differences = [-3.0, -0.5, -1e-4, 0.0, 1e-4, 0.5, 3.0]
    values = {"k1": lambda d: d, "k2": lambda d: d * d / 2, "k3": lambda d: math.exp(-d) - 1 + d}
    slopes = {"k1": lambda d: 1.0, "k2": lambda d: d, "k3": lambda d: 1 - math.exp(-d)}
    logp_N = torch.tensor([d - 2 for d in differences], dtype=torch.float64, requires_grad=True)
    term = Kl(estimator=estimator).terms(batch(logp_N, [-2.0] * len(differences))).term
    assert term.tolist() == pytest.approx([values[estimator[:2]](d) for d in differences], abs=1e-12)
    term.sum().backward()
    slope = slopes["k2" if estimator in RIGHT_GRADIENT else estimator]
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == pytest.approx([slope(d) for d in differences], abs=1e-12)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_expected_value_and_gradient(estimator: str) -> None:
    """Pitfall 26: over all tokens of a small vocabulary, weighted by π, value and gradient are what the docstring's table says.

    k1's gradient is 0, k3's that of KL(reference ‖ policy), and the others' that of KL(policy ‖ reference).
    """
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
    assert gradient_of(estimate) == pytest.approx(expected["k2" if estimator in RIGHT_GRADIENT else estimator], abs=1e-12)
    if estimator != "k2":
        assert estimate.item() == pytest.approx(reverse_kl.item(), abs=1e-12)


def test_only_the_ratio_corrects_for_old_tokens() -> None:
    """Tokens drawn from π_old, not π: k3_times_ratio still has the value and gradient of KL(π ‖ reference), the others have not."""
    generator = torch.Generator().manual_seed(1)
    old_logp, ref_logp, start = (torch.randn(6, generator=generator, dtype=torch.float64).log_softmax(0) for _ in range(3))
    logits = start.requires_grad_()
    logp = logits.log_softmax(0)
    true_kl = (logp.exp() * (logp - ref_logp)).sum()
    true_gradient = torch.autograd.grad(true_kl, logits, retain_graph=True)[0].tolist()
    right = set()
    for estimator in ESTIMATORS:
        term = Kl(estimator=estimator).terms(batch(logp, ref_logp, old_logp=old_logp)).term
        estimate = (old_logp.exp() * term).sum()
        gradient = torch.autograd.grad(estimate, logits, retain_graph=True)[0].tolist()
        if estimate.item() == pytest.approx(true_kl.item(), abs=1e-9) and gradient == pytest.approx(true_gradient, abs=1e-9):
            right.add(estimator)
    assert right == {"k3_times_ratio"}


def test_the_loss_has_part_of_a_sequences_gradient_and_the_penalty_all_of_it() -> None:
    """All nine sequences of two tokens out of three, weighted by π, against KL(π ‖ reference) of whole sequences.

    A loss on k2 has the gradient in which the first token's chances count as given when the second's KL is taken; the penalty on k1
    with returns to the end, under the plain policy gradient, has the gradient of it all.
    """
    generator = torch.Generator().manual_seed(2)
    logits = torch.randn(4, 3, generator=generator, dtype=torch.float64).requires_grad_()
    table = logits.log_softmax(-1)  # row 0: the first token; row 1 + i: the second after token i
    ref_table = torch.randn(4, 3, generator=generator, dtype=torch.float64).log_softmax(-1)
    kl_by_row = (table.exp() * (table - ref_table)).sum(-1)
    first = table[0].exp()

    def gradient_of(value: torch.Tensor) -> torch.Tensor:
        return torch.autograd.grad(value, logits, retain_graph=True)[0]

    whole = gradient_of(kl_by_row[0] + (first * kl_by_row[1:]).sum())
    as_given = gradient_of(kl_by_row[0] + (first.detach() * kl_by_row[1:]).sum())
    by_loss, by_penalty = torch.zeros(()), torch.zeros(())
    nan = float("nan")
    for i in range(3):
        for j in range(3):
            logp, ref_logp = torch.stack([table[0, i], table[1 + i, j]]), torch.stack([ref_table[0, i], ref_table[1 + i, j]])
            chance = logp.detach().sum().exp()
            by_loss = by_loss + chance * Kl(estimator="k2").terms(batch(logp, ref_logp)).term.sum()
            (a, b), (ref_a, ref_b) = logp.tolist(), ref_logp.tolist()
            penalty = KlPenalty(coefficient=1.0).penalty(measured([nan, a, nan, b], [nan, ref_a, nan, ref_b]))[[1, 3]]
            to_the_end = torch.tensor([penalty.sum(), penalty[1]])
            by_penalty = by_penalty + chance * (to_the_end * logp).sum()
    torch.testing.assert_close(gradient_of(by_loss), as_given, rtol=0, atol=1e-12)
    torch.testing.assert_close(gradient_of(by_penalty), whole, rtol=0, atol=1e-12)
    assert (whole - as_given).abs().max() > 0.01


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


def test_what_the_loss_asks_for() -> None:
    """Only the estimator that looks at old log-probs asks for them."""
    assert Kl().needs == {"ref_logp"}
    assert Kl(estimator="k3_times_ratio").needs == {"ref_logp", "old_logp"}


def paid(penalty: KlPenalty) -> float:
    """What it takes for one nat: its coefficient."""
    return float(penalty.penalty(measured([0, -1, 0, -2], [0, -2, 0, -2]))[1])


def test_an_adaptive_coefficient_hand_computed() -> None:
    """Target 0.02, horizon 10, from 0.1. KL 0.06: e = 2, cut to 0.2, β × 1.02; 0.018: e = −0.1, × 0.99; 0: e = −1, cut, × 0.98."""
    penalty = KlPenalty(coefficient=0.1, target=0.02)
    assert paid(penalty) == 0.1
    expected = 0.1
    for kl, factor in [(0.06, 1.02), (0.018, 0.99), (0.0, 0.98), (0.02, 1.0)]:
        penalty.after_step({"kl/reference": kl, "reward/mean": 1.0})
        expected *= factor
        assert paid(penalty) == pytest.approx(expected, rel=1e-12)


def test_a_step_without_kl_leaves_it() -> None:
    """Nothing measured, nothing learnt."""
    penalty = KlPenalty(coefficient=0.1, target=0.02)
    penalty.after_step({"reward/mean": 1.0})
    assert paid(penalty) == 0.1


def test_a_fixed_coefficient_stays_and_keeps_no_state() -> None:
    """Without a target nothing moves, and a resumed run takes the recipe's."""
    penalty = KlPenalty(coefficient=0.1)
    penalty.after_step({"kl/reference": 5.0})
    assert paid(penalty) == 0.1
    assert penalty.state() == {}
    penalty.restore({})
    assert paid(penalty) == 0.1


def test_a_resumed_run_goes_on_with_its_coefficient() -> None:
    """What ``state`` gave, ``restore`` takes over bit for bit."""
    penalty, resumed = (KlPenalty(coefficient=0.1, target=0.02, horizon=3) for _ in range(2))
    for kl in (0.03, 0.025, 0.001):
        penalty.after_step({"kl/reference": kl})
    resumed.restore(penalty.state())
    for each in (penalty, resumed):
        each.after_step({"kl/reference": 0.021})
    assert paid(resumed) == paid(penalty) != 0.1


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"coefficient": 0.0, "target": 0.1}, "coefficient: must be above 0 to adapt"),
        ({"coefficient": 0.1, "target": 0.0}, "target: must be above 0"),
        ({"coefficient": 0.1, "target": 0.1, "horizon": 0.5}, "horizon: must be at least 1"),
    ],
)
def test_a_coefficient_that_could_not_adapt(keys: dict[str, float], message: str) -> None:
    """A coefficient of 0 cannot grow by factors, and a KL of 0 is no target."""
    with pytest.raises(ValueError, match=message):
        KlPenalty(**keys)
