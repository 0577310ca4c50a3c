"""Binary cross entropy on steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from jackfield.corridor import Named
from jackfield.loss_batch import LossBatch
from jackfield.testing.contracts import check_loss
from jackfield_credit.gae import Gae
from jackfield_credit.monte_carlo import MonteCarlo
from jackfield_process.labels import StepLabels
from jackfield_process.loss import StepCrossEntropy


def batch(scores: Sequence[float], labels: Sequence[float], lengths: Sequence[int] | None = None) -> LossBatch:
    """One rollout, a turn a score; the label at the turn's last token, 0.5 (which must not be read) at its others."""
    lengths = lengths or [2] * len(scores)
    returns = [value for label, length in zip(labels, lengths, strict=True) for value in [0.5] * (length - 1) + [label]]
    nothing = torch.full((len(returns),), torch.nan, dtype=torch.float64)
    return LossBatch(
        logp_N=nothing,
        old_logp_N=nothing,
        rollout_N=torch.zeros(len(returns), dtype=torch.int64),
        num_rollouts=1,
        group_R=torch.zeros(1, dtype=torch.int64),
        num_groups=1,
        advantage_N=nothing,
        entropy_N=nothing,
        return_N=torch.tensor(returns, dtype=torch.float64),
        turn_end_S=torch.tensor(lengths).cumsum(0) - 1,
        turn_score_S=torch.tensor(scores, dtype=torch.float64, requires_grad=True),
    )


def test_hand_computed() -> None:
    """Scores 2 (right), −1 (right), 0.5 (wrong), 0 (a label of 0.3).

    −log σ(2) = log(1 + e⁻²) = 0.126928, slope σ(2) − 1 = −0.119203; −log σ(−1) = 1.313262, slope −0.731059; −log(1 − σ(0.5)) =
    log(1 + e^0.5) = 0.974077, slope 0.622459; ln 2 = 0.693147, slope 0.5 − 0.3 = 0.2.
    """
    given = batch([2.0, -1.0, 0.5, 0.0], [1, 1, 0, 0.3], [1, 3, 2, 4])
    term = StepCrossEntropy().terms(given).term
    assert term.tolist() == pytest.approx([0.126928, 1.313262, 0.974077, 0.693147], abs=1e-6)
    term.sum().backward()
    assert given.turn_score_S is not None
    assert given.turn_score_S.grad is not None
    assert given.turn_score_S.grad.tolist() == pytest.approx([-0.119203, -0.731059, 0.622459, 0.2], abs=1e-6)


def test_against_the_formula() -> None:
    """−y log p − (1 − y) log(1 − p) in plain floats, also for soft labels; a soft label's least is at p = y."""
    draw = torch.Generator().manual_seed(5)
    scores = (torch.randn(40, generator=draw, dtype=torch.float64) * 3).tolist()
    labels = torch.rand(40, generator=draw, dtype=torch.float64).round(decimals=1).tolist()
    expected = []
    for score, label in zip(scores, labels, strict=True):
        p = 1 / (1 + math.exp(-score))
        expected.append(-label * math.log(p) - (1 - label) * math.log(1 - p))
    assert StepCrossEntropy().terms(batch(scores, labels)).term.tolist() == pytest.approx(expected, abs=1e-12)
    level = batch([math.log(0.3 / 0.7)], [0.3])
    StepCrossEntropy().terms(level).term.sum().backward()
    assert level.turn_score_S is not None
    assert level.turn_score_S.grad is not None
    assert level.turn_score_S.grad.tolist() == pytest.approx([0.0], abs=1e-12)


def test_extreme_scores_are_finite() -> None:
    """5,000 on the wrong side costs 5,000; on the right side nothing."""
    assert StepCrossEntropy().terms(batch([5_000.0, -5_000.0, 5_000.0], [1, 1, 0])).term.tolist() == [0.0, 5_000.0, 5_000.0]


def test_metrics() -> None:
    """Right, wrong and undecided steps; a label of ½ is on no side."""
    metrics = StepCrossEntropy().terms(batch([2.0, -1.0, -3.0, 0.0, 9.0], [1, 1, 0, 0, 0.5])).metrics
    assert metrics["accuracy"].tolist() == [1.0, 0.0, 1.0, 0.5, 0.5]
    assert metrics["accuracy_right"].tolist() == [1.0, 0.0]
    assert metrics["accuracy_wrong"].tolist() == [1.0, 0.5]
    assert metrics["right"].tolist() == pytest.approx([0.880797, 0.268941], abs=1e-6)
    assert metrics["wrong"].tolist() == pytest.approx([0.047426, 0.5], abs=1e-6)


@pytest.mark.parametrize("label", [1.1, -0.2, 2.0])
def test_what_is_no_label_is_refused(label: float) -> None:
    """A return that sums over steps, as with gamma = 1, is not taken for a label; rounding is."""
    with pytest.raises(ValueError, match=rf"the label {label:g}, expected 0 to 1.*gamma = 0"):
        StepCrossEntropy().terms(batch([0.0, 0.0], [1.0, label]))
    assert StepCrossEntropy().terms(batch([0.0], [1 + 1e-9])).term.tolist() == pytest.approx([math.log(2)])


def test_contract() -> None:
    """One term a turn, whatever it shares a batch with."""
    check_loss(StepCrossEntropy())


LABELS = Named[Any](name="step_labels", part=StepLabels())
OTHER = Named[Any](name="exact", part=object())


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, None),
        ({"advantage": Gae(gamma=0.0)}, None),
        ({"rewards": (LABELS, Named[Any](name="exact", part=object(), weight=0.0))}, None),
        ({"advantage": MonteCarlo(gamma=0.5)}, "this advantage returns what later ones earn too; write [advantage] use = "),
        ({"advantage": SimpleNamespace()}, "this advantage returns what later ones earn too; write [advantage] use = "),
        ({"rewards": (Named[Any](name="step_labels", part=StepLabels(), weight=0.5),)}, "step_labels is weighed by 0.5; write weight = 1"),
        ({"rewards": (LABELS, OTHER)}, "it is made up of step_labels and exact; keep one, or give the others weight 0"),
        ({"rewards": (LABELS, Named[Any](name="exact", part=object(), weight=0.0, gate=True))}, "made up of step_labels and exact"),
        ({"penalties": (OTHER,)}, "exact is taken off it; remove [[penalties]]"),
    ],
)  # fmt: skip
def test_a_label_arrives_as_it_was_given_or_the_recipe_is_refused(changed: dict[str, Any], told: str | None) -> None:
    """What changes it on the way from the data would be learnt without a word where it stays between 0 and 1."""
    recipe = {"advantage": MonteCarlo(gamma=0.0), "rewards": (LABELS,), "penalties": ()} | changed
    found = StepCrossEntropy().check_recipe(SimpleNamespace(**recipe))  # type: ignore[arg-type]
    assert len(found) == (told is not None)
    assert told is None or told in found[0]
