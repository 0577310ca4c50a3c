"""Direct preference optimisation."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from jackfield_preference.dpo import Dpo


def sigmoid(x: float) -> float:
    """1 / (1 + e⁻ˣ)."""
    return 1 / (1 + math.exp(-x))


def test_hand_computed(make_batch: Any) -> None:
    """β = 0.5. Chosen: log π −1 −2 = −3 against −2 −2 = −4, so r = 0.5; rejected: −1.5 against −0.5, r = −0.5; margin 1.

    −log σ(1) = log(1 + e⁻¹) = 0.313262; its slope by the margin is −σ(−1) = −0.268941, by a chosen token β times that.
    """
    batch = make_batch([[(1, [-1.0, -2.0]), (-1, [-1.5])]], ref_logp=[-2.0, -2.0, -0.5])
    terms = Dpo(beta=0.5).terms(batch)
    assert terms.term.tolist() == pytest.approx([0.313262], abs=1e-6)
    metrics = {name: values.tolist() for name, values in terms.metrics.items()}
    assert metrics == {"accuracy": [1.0], "margin": [1.0], "reward_chosen": [0.5], "reward_rejected": [-0.5]}
    terms.term.sum().backward()
    assert batch.logp_N.grad.tolist() == pytest.approx([-0.134471, -0.134471, 0.134471], abs=1e-6)


def test_a_policy_equal_to_its_reference_starts_at_ln_2(make_batch: Any) -> None:
    """A14: ln 2 whatever lengths and β are, accuracy ½, and a gradient that moves it: −β/2 a chosen token, +β/2 a rejected one."""
    groups = [[(1, [-1.0, -2.0, -0.5]), (-1, [-3.0])], [(-1, [-0.1] * 4), (1, [-2.0])]]
    batch = make_batch(groups, ref_logp=[-1.0, -2.0, -0.5, -3.0, *[-0.1] * 4, -2.0])
    for smoothing in (0.0, 0.3):
        terms = Dpo(beta=0.2, label_smoothing=smoothing).terms(batch)
        assert terms.term.tolist() == pytest.approx([math.log(2)] * 2, abs=1e-12)
        assert terms.metrics["accuracy"].tolist() == [0.5, 0.5]
    Dpo(beta=0.2).terms(batch).term.sum().backward()
    assert batch.logp_N.grad.tolist() == pytest.approx([-0.1, -0.1, -0.1, 0.1, 0.1, 0.1, 0.1, 0.1, -0.1], abs=1e-12)
    stepped = make_batch(groups, logp=(batch.logp_N - 0.01 * batch.logp_N.grad).detach(), ref_logp=batch.ref_logp_N)
    assert (Dpo(beta=0.2).terms(stepped).term < math.log(2)).all()


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
def test_random_pairs_match_plain_loops(make_batch: Any, smoothing: float) -> None:
    """Pitfall 55: sums over tokens, value and gradient against plain floats; label smoothing mixes both labels."""
    draw = torch.Generator().manual_seed(11)
    shapes, beta = [(1, 3), (-1, 7), (-1, 2), (1, 5), (1, 1), (-1, 1)], 0.3
    groups = []
    for first, second in zip(shapes[::2], shapes[1::2], strict=True):
        groups.append([(side, (torch.randn(n, generator=draw) - 2).tolist()) for side, n in (first, second)])
    tokens = sum(n for _, n in shapes)
    ref = (torch.randn(tokens, generator=draw, dtype=torch.float64) - 2).tolist()
    batch = make_batch(groups, ref_logp=ref)
    terms = Dpo(beta=beta, label_smoothing=smoothing).terms(batch)
    terms.term.sum().backward()
    position, expected, slopes = 0, [], []
    for group in groups:
        margin = 0.0
        for side, tokens_of in group:
            margin += side * beta * sum(x - ref[position + i] for i, x in enumerate(tokens_of))
            position += len(tokens_of)
        expected.append(-(1 - smoothing) * math.log(sigmoid(margin)) - smoothing * math.log(sigmoid(-margin)))
        by_margin = sigmoid(margin) - (1 - smoothing)
        slopes += [side * beta * by_margin for side, tokens_of in group for _ in tokens_of]
    assert terms.term.tolist() == pytest.approx(expected, abs=1e-12)
    assert batch.logp_N.grad.tolist() == pytest.approx(slopes, abs=1e-12)


def test_smoothing_draws_the_margin_to_a_finite_place(make_batch: Any) -> None:
    """With ε = 0.2 the gradient is 0 at a margin of log(0.8 / 0.2)."""
    batch = make_batch([[(1, [math.log(4) - 1.0]), (-1, [-1.0])]], ref_logp=[-1.0, -1.0])
    Dpo(beta=1.0, label_smoothing=0.2).terms(batch).term.sum().backward()
    assert batch.logp_N.grad.tolist() == pytest.approx([0.0, 0.0], abs=1e-12)


def test_what_it_asks_for() -> None:
    """Whole groups and a reference; bounds of its keys."""
    assert (Dpo.unit, Dpo.needs, Dpo.silent_without_advantage) == ("group", {"ref_logp"}, True)
    with pytest.raises(ValueError, match=r"label_smoothing: must be at least 0 and below 0\.5"):
        Dpo(label_smoothing=0.5)
    with pytest.raises(ValueError, match="beta: must be above 0"):
        Dpo(beta=0.0)
