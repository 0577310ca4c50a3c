"""What every comparison of two members shares."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from jackfield_credit.constant import Constant
from jackfield_credit.gae import Gae
from jackfield_credit.group_norm import GroupNorm
from jackfield_credit.monte_carlo import MonteCarlo
from jackfield_credit.pairs import Pairs as PairsAdvantage
from jackfield_credit.reinforce_plus_plus import ReinforcePlusPlus
from jackfield_credit.running_baseline import RunningBaseline
from jackfield_preference.bradley_terry import BradleyTerry
from jackfield_preference.chosen_nll import ChosenNll
from jackfield_preference.dpo import Dpo
from jackfield_preference.ipo import Ipo
from jackfield_preference.pairs import Pairs

COMPARISONS = [Dpo(), Dpo(label_smoothing=0.2), Ipo(), Ipo(per_token=True), BradleyTerry(), BradleyTerry(centring=0.5)]


def scored(make_batch: Any, sides: list[list[float]], score_R: torch.Tensor) -> Any:
    """Groups of rollouts of one or two tokens, the reference at −2 everywhere."""
    groups = [[(side, [-1.0 - i] * (1 + i % 2)) for i, side in enumerate(group)] for group in sides]
    tokens = sum(len(rollout[1]) for group in groups for rollout in group)
    return make_batch(groups, ref_logp=[-2.0] * tokens, score=score_R)


def test_sides_are_found_whatever_their_order(make_batch: Any) -> None:
    """The preferred member is that of positive advantage, first or last in its group."""
    pairs = Pairs.of(scored(make_batch, [[1, -1], [-2, 2]], torch.zeros(4)), torch.tensor([3.0, 1.0, 5.0, 7.0]))
    assert pairs.chosen_G.tolist() == [3.0, 7.0]
    assert pairs.rejected_G.tolist() == [1.0, 5.0]
    assert pairs.margin_G.tolist() == [2.0, 2.0]
    assert pairs.is_pair_G.tolist() == [True, True]


@pytest.mark.parametrize("loss", COMPARISONS, ids=str)
def test_what_is_no_pair_has_no_part(make_batch: Any, loss: Any) -> None:
    """A tie, and a member whose opponent is missing, have the term 0, no gradient and no metric: silence without advantage is kept."""
    score_R = torch.tensor([1.0, 2.0, 3.0, -1.0, 0.5], dtype=torch.float64, requires_grad=True)
    batch = scored(make_batch, [[0, 0], [1], [-1, 1]], score_R)
    terms = loss.terms(batch)
    assert terms.term[:2].tolist() == [0.0, 0.0]
    assert terms.term[2] > 0
    terms.term.sum().backward()
    gradients = score_R.grad if batch.logp_N.grad is None else batch.sum_by_rollout(batch.logp_N.grad)
    assert gradients is not None
    assert gradients[:3].tolist() == [0.0, 0.0, 0.0]
    assert (gradients[3:] != 0).all()
    assert all(values.shape == (1,) for values in terms.metrics.values())


@pytest.mark.parametrize("loss", COMPARISONS, ids=str)
def test_more_than_two_members_are_refused(make_batch: Any, loss: Any) -> None:
    """Two preferred members of one group are no pair, and adding their numbers up would be none either."""
    with pytest.raises(ValueError, match="more than one member with a positive"):
        loss.terms(scored(make_batch, [[1, 1, -1]], torch.zeros(3, dtype=torch.float64)))


@pytest.mark.parametrize("loss", COMPARISONS, ids=str)
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_extreme_margins_stay_finite(make_batch: Any, loss: Any, side: float) -> None:
    """Pitfall 27: margins of ±10⁴ nats overflow neither value nor gradient in float32."""
    logp_N = torch.tensor([0.0, -10_000.0], requires_grad=True)
    score_R = torch.tensor([5_000.0, -5_000.0], requires_grad=True)
    batch = make_batch([[(side, [0.0]), (-side, [0.0])]], logp=logp_N, ref_logp=[0.0, 0.0], score=score_R)
    terms = loss.terms(batch)
    assert terms.term.dtype == torch.float32
    terms.term.sum().backward()
    gradient = score_R.grad if logp_N.grad is None else logp_N.grad
    assert gradient is not None
    for numbers in (terms.term, gradient, *terms.metrics.values()):
        assert torch.isfinite(numbers).all()


def test_metrics_are_of_the_pair(make_batch: Any) -> None:
    """Accuracy is the share of positive margins, ½ for 0; metrics carry no gradient."""
    score_R = torch.tensor([2.0, -1.0, 0.5, 1.5, 1.0, 1.0], dtype=torch.float64, requires_grad=True)
    metrics = BradleyTerry().terms(scored(make_batch, [[1, -1], [1, -1], [1, -1]], score_R)).metrics
    assert metrics["accuracy"].tolist() == [1.0, 0.0, 0.5]
    assert metrics["margin"].tolist() == [3.0, -1.0, 0.0]
    assert metrics["score_chosen"].tolist() == [2.0, 0.5, 1.0]
    assert metrics["score_rejected"].tolist() == [-1.0, 1.5, 1.0]
    assert not any(m.requires_grad for m in metrics.values())
    assert not math.isnan(metrics["margin"].mean())


def refused(loss: Any, advantage: Any, group_size: int) -> list[str]:
    found: list[str] = loss.check_recipe(SimpleNamespace(run=SimpleNamespace(group_size=group_size), advantage=advantage))
    return found


@pytest.mark.parametrize("loss", [*COMPARISONS, ChosenNll()], ids=str)
@pytest.mark.parametrize(
    "advantage",
    [Constant(), Gae(), MonteCarlo(), MonteCarlo(whiten=True), ReinforcePlusPlus(), RunningBaseline()],
    ids=lambda advantage: type(advantage).__name__,
)
def test_an_advantage_that_leaves_no_pairs_is_refused(loss: Any, advantage: Any) -> None:
    """A baseline that is not the group's own makes no preference within it, not even of two."""
    for group_size in (2, 8):
        [message] = refused(loss, advantage, group_size)
        assert message == (
            "compares a preferred with a rejected member of every group, and this advantage does not leave one of each; "
            'write [advantage] use = "pairs"'
        )


def test_an_advantage_that_leaves_pairs_will_do() -> None:
    """Whatever it is called: of two members the norm of their group is a preference, of eight it is not. A margin above all rewards
    shown leaves nothing, which says nothing."""
    assert refused(Dpo(), PairsAdvantage(), 8) == refused(Dpo(), PairsAdvantage(margin=1000.0), 8) == []
    assert refused(Dpo(), GroupNorm(), 2) == []
    assert refused(Dpo(), GroupNorm(), 8) != []
