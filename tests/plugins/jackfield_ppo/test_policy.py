"""The clipped policy loss."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
import torch

from jackfield.loss_batch import LossBatch
from jackfield_ppo.cispo import Cispo
from jackfield_ppo.gspo import Gspo
from jackfield_ppo.policy import PpoClip
from jackfield_ppo.reinforce import Reinforce


def batch(logp: Any, old_logp: Any, advantage: Any) -> LossBatch:
    """A float64 batch of one rollout."""
    return LossBatch(
        logp_N=torch.as_tensor(logp, dtype=torch.float64),
        old_logp_N=torch.as_tensor(old_logp, dtype=torch.float64),
        rollout_N=torch.zeros(len(old_logp), dtype=torch.long),
        num_rollouts=1,
        group_R=torch.zeros(1, dtype=torch.long),
        num_groups=1,
        turn_end_S=torch.tensor([len(old_logp) - 1]),
        advantage_N=torch.as_tensor(advantage, dtype=torch.float64),
        entropy_N=torch.zeros(len(old_logp), dtype=torch.float64),
    )


def reference(loss: PpoClip, logp: float, old_logp: float, advantage: float) -> float:
    """Eq. 7 and the dual clip by cases on where the ratio lies, in plain floats."""
    ratio = math.exp(min(max(logp - old_logp, -20.0), 20.0))
    if advantage >= 0:
        return -advantage * (1 + loss.clip_high if ratio > 1 + loss.clip_high else ratio)
    weight = max(ratio, 1 - loss.clip_low)
    if loss.dual_clip is not None:
        weight = min(weight, loss.dual_clip)
    return -advantage * weight


def test_hand_computed() -> None:
    """Ratios 1.5, 0.5, 1.1, 1.5, 0.5, 4.0 with ε = 0.2.

    A = 2:  −2·1.5 = −3   against −2·1.2 = −2.4 → −2.4 (clipped)
    A = 2:  −2·0.5 = −1   against −2·0.8 = −1.6 → −1.0
    A = 2:  −2·1.1 = −2.2 both                  → −2.2
    A = −2:  2·1.5 = 3    against  2·1.2 = 2.4  →  3.0
    A = −2:  2·0.5 = 1    against  2·0.8 = 1.6  →  1.6 (clipped)
    A = −2:  2·4.0 = 8                          →  8.0
    """
    ratios = [1.5, 0.5, 1.1, 1.5, 0.5, 4.0]
    terms = PpoClip().terms(batch([math.log(r) - 1 for r in ratios], [-1.0] * 6, [2, 2, 2, -2, -2, -2]))
    assert terms.term.tolist() == pytest.approx([-2.4, -1.0, -2.2, 3.0, 1.6, 8.0], abs=1e-12)
    assert terms.metrics["clip_fraction"].tolist() == [1, 0, 0, 0, 1, 0]
    assert terms.metrics["ratio"].tolist() == pytest.approx(ratios)
    assert "dual_clip_fraction" not in terms.metrics


def test_dual_clip_hand_computed() -> None:
    """Pitfall 47: c = 3 bounds the term of A = −2 at ratio 4 by 6, and leaves ratio 2 and positive advantages alone."""
    ratios = [4.0, 2.0, 4.0]
    terms = PpoClip(dual_clip=3.0).terms(batch([math.log(r) for r in ratios], [0.0] * 3, [-2, -2, 2]))
    assert terms.term.tolist() == pytest.approx([6.0, 4.0, -2.4], abs=1e-12)
    assert terms.metrics["dual_clip_fraction"].tolist() == [1, 0, 0]


@pytest.mark.parametrize("dual_clip", [None, 1.5, 3.0])
def test_random_batches_match_the_reference(dual_clip: float | None) -> None:
    """Value and gradient agree with the case-by-case reference; the gradient is checked by central differences."""
    rng = random.Random(1)
    loss = PpoClip(clip_low=0.2, clip_high=0.28, dual_clip=dual_clip)
    logp, old_logp, advantage = ([rng.gauss(-1, 0.7) for _ in range(200)] for _ in range(3))
    logp_N = torch.tensor(logp, dtype=torch.float64, requires_grad=True)
    term = loss.terms(batch(logp_N, old_logp, advantage)).term
    assert term.tolist() == pytest.approx([reference(loss, *row) for row in zip(logp, old_logp, advantage, strict=True)], abs=1e-12)
    term.sum().backward()
    h = 1e-6
    slopes = [
        (reference(loss, x + h, o, a) - reference(loss, x - h, o, a)) / (2 * h)
        for x, o, a in zip(logp, old_logp, advantage, strict=True)
    ]
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == pytest.approx(slopes, abs=1e-6)


def test_gradient_at_ratio_one_is_minus_the_advantage() -> None:
    """In the first update of a step the loss is plain policy gradient: −A, exactly, whatever the clip."""
    logp_N = torch.tensor([-0.5, -2.0, -1.0], dtype=torch.float64, requires_grad=True)
    terms = PpoClip(dual_clip=2.0).terms(batch(logp_N, logp_N.detach(), [1.0, -3.0, 0.0]))
    terms.term.sum().backward()
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == [-1.0, 3.0, 0.0]
    assert terms.metrics["ratio"].tolist() == [1.0, 1.0, 1.0]
    assert terms.metrics["approx_kl"].tolist() == [0.0, 0.0, 0.0]


def test_clipped_tokens_have_no_gradient() -> None:
    """Beyond the clip, on the side the advantage pushes to, a token does not move the policy."""
    logp_N = torch.log(torch.tensor([1.5, 0.5, 10.0], dtype=torch.float64)).requires_grad_()
    PpoClip(dual_clip=3.0).terms(batch(logp_N, [0.0] * 3, [1.0, -1.0, -1.0])).term.sum().backward()
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == [0.0, 0.0, 0.0]


def test_without_the_min_hand_computed() -> None:
    """pessimistic = false: the clipped objective alone. It differs where a token moved the wrong way, and has no gradient there.

    Ratios 1.5, 0.5, 1.1, 1.5, 0.5 with ε = 0.2: A = 2: −2.4, −1.6 (not −1.0), −2.2; A = −2: 2.4 (not 3.0), 1.6
    """
    ratios = [1.5, 0.5, 1.1, 1.5, 0.5]
    logp_N = torch.log(torch.tensor(ratios, dtype=torch.float64)).requires_grad_()
    terms = PpoClip(pessimistic=False).terms(batch(logp_N, [0.0] * 5, [2, 2, 2, -2, -2]))
    assert terms.term.tolist() == pytest.approx([-2.4, -1.6, -2.2, 2.4, 1.6], abs=1e-12)
    assert terms.metrics["clip_fraction"].tolist() == [1, 1, 0, 1, 1]
    terms.term.sum().backward()
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == pytest.approx([0, 0, -2.2, 0, 0], abs=1e-12)


@pytest.mark.parametrize("pessimistic", [True, False])
def test_without_the_clip_hand_computed(pessimistic: bool) -> None:
    """clip = false: −A·ρ with its own gradient at every ratio, with or without the min; only a dual clip still bounds it."""
    logp_N = torch.log(torch.tensor([1.5, 0.5, 4.0, 0.25], dtype=torch.float64)).requires_grad_()
    moved = batch(logp_N, [0.0] * 4, [2, 2, -2, -2])
    terms = PpoClip(clip=False, pessimistic=pessimistic).terms(moved)
    assert terms.term.tolist() == pytest.approx([-3.0, -1.0, 8.0, 0.5], abs=1e-12)
    assert terms.metrics["clip_fraction"].tolist() == [0, 0, 0, 0]
    terms.term.sum().backward()
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == pytest.approx([-3.0, -1.0, 8.0, 0.5], abs=1e-12)
    bounded = PpoClip(clip=False, pessimistic=pessimistic, dual_clip=3.0).terms(moved)
    assert bounded.term.tolist() == pytest.approx([-3.0, -1.0, 6.0, 0.5], abs=1e-12)


@pytest.mark.parametrize(
    "loss", [PpoClip(), PpoClip(pessimistic=False), PpoClip(clip=False), Reinforce(), Gspo(), Cispo()], ids=str
)
def test_all_have_the_plain_gradient_in_the_first_update(loss: Any) -> None:
    """At ratio 1 the gradient is −A, exactly, whatever part is taken off: they differ from a step's second update on."""
    logp_N = torch.tensor([-0.5, -2.0, -1.0], dtype=torch.float64, requires_grad=True)
    loss.terms(batch(logp_N, logp_N.detach(), [1.0, -3.0, 0.0])).term.sum().backward()
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == [-1.0, 3.0, 0.0]


def test_extreme_ratios_stay_finite() -> None:
    """Pitfall 27: log-ratios of ±200 overflow neither value nor gradient in float32."""
    logp_N = torch.tensor([-200.0, 0.0], requires_grad=True)
    old_logp_N, advantage_N = torch.tensor([0.0, -200.0]), torch.tensor([-1.0, -1.0])
    terms = PpoClip().terms(
        LossBatch(
            logp_N=logp_N,
            old_logp_N=old_logp_N,
            rollout_N=torch.zeros(2),
            num_rollouts=1,
            group_R=torch.zeros(1, dtype=torch.long),
            num_groups=1,
            turn_end_S=torch.tensor([1]),
            advantage_N=advantage_N,
            entropy_N=torch.zeros(2),
        )
    )
    terms.term.sum().backward()
    assert logp_N.grad is not None
    for numbers in (terms.term, logp_N.grad, *terms.metrics.values()):
        assert torch.isfinite(numbers).all()


def test_metrics_carry_no_gradient_and_approx_kl_is_k3() -> None:
    """approx_kl is (ρ − 1) − log ρ: at ρ = 2, 1 − 0.6931."""
    logp_N = torch.tensor([math.log(2.0)], dtype=torch.float64, requires_grad=True)
    metrics = PpoClip(dual_clip=3.0).terms(batch(logp_N, [0.0], [1.0])).metrics
    assert not any(m.requires_grad for m in metrics.values())
    assert metrics["approx_kl"].item() == pytest.approx(1 - math.log(2))


def test_no_tokens() -> None:
    """A micro-batch without policy tokens gives an empty term with a graph."""
    logp_N = torch.zeros(0, dtype=torch.float64, requires_grad=True)
    term = PpoClip().terms(batch(logp_N, [], [])).term
    assert term.shape == (0,)
    term.sum().backward()


@pytest.mark.parametrize(("key", "value"), [("dual_clip", 1.0), ("dual_clip", 0.5), ("clip_low", 1.5), ("clip_high", -0.1)])
def test_keys_out_of_range(key: str, value: float) -> None:
    """Pitfall 47: a dual clip of 1 or less would cut the plain objective."""
    with pytest.raises(ValueError, match=f"{key}: must"):
        PpoClip(**{key: value})
