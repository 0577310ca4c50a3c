"""The clipped value loss and the entropy bonus."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from jackfield.loss_batch import LossBatch
from jackfield_ppo.entropy import Entropy
from jackfield_ppo.value import ValueClip


def batch(value: Any = None, old_value: Any = None, returns: Any = None, entropy: Any = None, tokens: int = 1) -> LossBatch:
    """A float64 batch of one rollout."""

    def tensor(numbers: Any) -> torch.Tensor | None:
        return None if numbers is None else torch.as_tensor(numbers, dtype=torch.float64)

    zeros = torch.zeros(tokens, dtype=torch.float64)
    return LossBatch(
        logp_N=zeros,
        old_logp_N=zeros,
        rollout_N=zeros.long(),
        num_rollouts=1,
        group_R=torch.zeros(1, dtype=torch.long),
        num_groups=1,
        turn_end_S=torch.tensor([len(zeros) - 1]),
        advantage_N=zeros,
        entropy_N=tensor(entropy),
        value_N=tensor(value),
        old_value_N=tensor(old_value),
        return_N=tensor(returns),
    )


def reference(value: float, old: float, target: float, clip: float | None) -> float:
    """Half the larger of the two squared errors, by cases on how far the value moved."""
    plain = (value - target) ** 2
    if clip is None or abs(value - old) <= clip:
        return plain / 2
    held = old + clip if value > old else old - clip
    return max(plain, (held - target) ** 2) / 2


def test_hand_computed() -> None:
    """clip = 0.2, old value 0.

    V = 0.5, R = 1:  (0.5)² = 0.25 against (0.2 − 1)² = 0.64 → 0.32 (clipped: it moved the right way, too far)
    V = 0.5, R = 0:  0.25 against 0.04                       → 0.125
    V = 0.1, R = 1:  0.81 both                               → 0.405
    V = −0.5, R = −1: 0.25 against (−0.2 + 1)² = 0.64        → 0.32 (clipped)
    """
    terms = ValueClip(clip=0.2).terms(batch([0.5, 0.5, 0.1, -0.5], [0.0] * 4, [1, 0, 1, -1]))
    assert terms.term.tolist() == pytest.approx([0.32, 0.125, 0.405, 0.32], abs=1e-12)
    assert terms.metrics["clip_fraction"].tolist() == [1, 0, 0, 1]
    assert terms.metrics["squared_error"].tolist() == pytest.approx([0.25, 0.25, 0.81, 0.25])
    assert terms.metrics["value"].tolist() == [0.5, 0.5, 0.1, -0.5]
    assert terms.metrics["return"].tolist() == [1, 0, 1, -1]


@pytest.mark.parametrize("clip", [None, 0.1, 0.5])
def test_random_batches_match_the_reference(clip: float | None) -> None:
    """Value and gradient agree with the case-by-case reference (central differences)."""
    rng = random.Random(2)
    value, old, target = ([rng.gauss(0, 1) for _ in range(200)] for _ in range(3))
    value_N = torch.tensor(value, dtype=torch.float64, requires_grad=True)
    term = ValueClip(clip=clip).terms(batch(value_N, old, target)).term
    rows = list(zip(value, old, target, strict=True))
    assert term.tolist() == pytest.approx([reference(*row, clip) for row in rows], abs=1e-12)
    term.sum().backward()
    h = 1e-6
    slopes = [(reference(v + h, o, t, clip) - reference(v - h, o, t, clip)) / (2 * h) for v, o, t in rows]
    assert value_N.grad is not None
    assert value_N.grad.tolist() == pytest.approx(slopes, abs=1e-6)


def test_an_unmoved_value_learns_the_whole_error() -> None:
    """In a step's first update V = V_old, so the gradient is V − R, however far R is."""
    value_N = torch.tensor([0.0, 3.0], dtype=torch.float64, requires_grad=True)
    terms = ValueClip(clip=0.1).terms(batch(value_N, [0.0, 3.0], [5.0, -5.0]))
    terms.term.sum().backward()
    assert value_N.grad is not None
    assert value_N.grad.tolist() == [-5.0, 8.0]
    assert not any(m.requires_grad for m in terms.metrics.values())


def test_clip_must_be_positive() -> None:
    """A clip of 0 would freeze the critic."""
    with pytest.raises(ValueError, match="clip: must be above 0"):
        ValueClip(clip=0.0)


def test_entropy_is_minimised_as_its_negative() -> None:
    """The term is −H with gradient −1, so that a positive weight raises entropy."""
    entropy_N = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    terms = Entropy().terms(batch(entropy=entropy_N, tokens=2))
    assert terms.term.tolist() == [-0.5, -2.0]
    terms.term.sum().backward()
    assert entropy_N.grad is not None
    assert entropy_N.grad.tolist() == [-1.0, -1.0]


def test_what_they_ask_for() -> None:
    """Each asks for exactly what it reads, per token."""
    assert (ValueClip.unit, Entropy.unit) == ("token", "token")
    assert ValueClip.needs == {"value", "returns"}
    assert not ValueClip.reads_policy
