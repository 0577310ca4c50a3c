"""Cross entropy of the preferred member."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jackfield.corridor import Named
from jackfield.learn import Weights
from jackfield.settings import Learn
from jackfield.types import Credited, Finish, Segment, Task
from jackfield_preference.chosen_nll import ChosenNll


def credited(advantage: float, tokens: int) -> Credited:
    """A prompt token, where the advantage is not to be read, and the policy's tokens."""
    return Credited(
        task=Task(id="t", prompt=()),
        member=0,
        segments=(
            Segment(tokens=np.zeros(1, np.int64), writer="task"),
            Segment(tokens=np.zeros(tokens, np.int64), writer="policy"),
        ),
        finish=Finish(reason="eos"),
        verdicts={},
        reward=advantage,
        token_reward=np.zeros(1 + tokens),
        advantage=np.array([np.nan] + [advantage] * tokens),
    )


def test_only_the_preferred_member_counts() -> None:
    """A positive advantage counts; a negative one, or none (a tie), does not."""
    assert [ChosenNll().counts(credited(advantage, 3)) for advantage in (1.0, 0.0, -1.0)] == [True, False, False]


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [
        ("token_mean", (1 + 2 + 3 + 8) / 4),
        ("sequence_mean", ((1 + 2 + 3) / 3 + 8) / 2),
        ("fixed_length", (1 + 2 + 3 + 8) / (2 * 10)),
    ],
)
def test_its_divisor_is_its_own(make_batch: Any, aggregation: Any, expected: float) -> None:
    """Pitfall 55: chosen answers of 3 tokens and 1 token, rejected ones of 2 and 4: what is rejected is in no sum and no divisor."""
    groups = [[(1, [-1.0, -2.0, -3.0]), (-1, [-50.0] * 2)], [(-1, [-50.0] * 4), (1, [-8.0])]]
    batch = make_batch(groups)
    bundles = [tuple(credited(side, len(tokens)) for side, tokens in group) for group in groups]
    weights = Weights(bundles, Learn(aggregation=aggregation, fixed_length=10))
    loss = Named(name="chosen_nll", part=ChosenNll()).part
    term = loss.terms(batch).term
    value = (term * weights.of(bundles, loss, term)).sum() / weights.total(loss)
    assert value.item() == pytest.approx(expected, abs=1e-12)
    value.backward()
    assert batch.logp_N.grad[[3, 4, 5, 6, 7, 8]].tolist() == [0.0] * 6
    assert (batch.logp_N.grad[[0, 1, 2, 9]] < 0).all()


def test_terms_are_silent_without_advantage(make_batch: Any) -> None:
    """A tie has no term and no gradient, so that such groups need not be computed."""
    batch = make_batch([[(0, [-1.0]), (0, [-2.0])]])
    term = ChosenNll().terms(batch).term
    assert term.tolist() == [0.0, 0.0]
    term.sum().backward()
    assert batch.logp_N.grad.tolist() == [0.0, 0.0]
