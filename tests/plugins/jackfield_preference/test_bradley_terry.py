"""Reward-model training."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from jackfield_preference.bradley_terry import BradleyTerry

ONE_PAIR = [[(-1, [-1.0]), (1, [-1.0])]]


def test_hand_computed(make_batch: Any) -> None:
    """Scores 0.5 (rejected) and 2: −log σ(1.5) = log(1 + e⁻¹·⁵) = 0.201413, slopes ±σ(−1.5) = 0.182426.

    With centring 0.1: + 0.1 · 2.5² = 0.625, slopes + 0.1 · 2 · 2.5 = 0.5 on both.
    """
    for centring, value, slopes in [(0.0, 0.201413, [0.182426, -0.182426]), (0.1, 0.826413, [0.682426, 0.317574])]:
        score_R = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
        term = BradleyTerry(centring=centring).terms(make_batch(ONE_PAIR, score=score_R)).term
        assert term.tolist() == pytest.approx([value], abs=1e-6)
        term.sum().backward()
        assert score_R.grad is not None
        assert score_R.grad.tolist() == pytest.approx(slopes, abs=1e-6)


def test_equal_scores_start_at_ln_2(make_batch: Any) -> None:
    """A fresh head scores all alike: ln 2, half right."""
    terms = BradleyTerry(centring=0.01).terms(make_batch(ONE_PAIR, score=torch.zeros(2, dtype=torch.float64)))
    assert terms.term.tolist() == pytest.approx([math.log(2)])
    assert terms.metrics["accuracy"].tolist() == [0.5]


def test_centring_settles_the_level(make_batch: Any) -> None:
    """Scores moved by a constant are the same to the model of preferences; centring alone tells them apart."""
    low, high = (torch.tensor([0.0, 1.0], dtype=torch.float64) + level for level in (-0.5, 4.0))
    plain = [BradleyTerry().terms(make_batch(ONE_PAIR, score=score)).term.item() for score in (low, high)]
    centred = [BradleyTerry(centring=0.01).terms(make_batch(ONE_PAIR, score=score)).term.item() for score in (low, high)]
    assert plain[0] == pytest.approx(plain[1], abs=1e-12)
    assert centred == pytest.approx([plain[0], plain[0] + 0.01 * 9**2], abs=1e-12)


def test_what_it_asks_for() -> None:
    """A score of whole groups, and no log-prob of the policy."""
    assert (BradleyTerry.unit, BradleyTerry.needs, BradleyTerry.reads_policy) == ("group", {"score"}, False)
    with pytest.raises(ValueError, match="centring: must be at least 0"):
        BradleyTerry(centring=-1.0)
