"""The check of losses finds the fault it is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

from jackfield.loss_batch import LossBatch, LossTerms
from jackfield.testing.contracts import check_loss
from jackfield.types import Credited


class Term:
    """A loss made of a function."""

    def __init__(
        self,
        terms: Callable[[LossBatch], Any],
        unit: Literal["token", "turn", "rollout", "group"] = "token",
        *,
        needs: frozenset[str] = frozenset(),
        **says: Any,
    ) -> None:
        self.function = terms
        self.unit = unit
        self.needs = needs
        for name, value in says.items():
            setattr(self, name, value)

    def terms(self, batch: LossBatch) -> LossTerms:
        found = self.function(batch)
        return found if isinstance(found, LossTerms) else LossTerms(term=found)


OLD = frozenset({"old_logp"})
VALUE = frozenset({"value", "returns"})
SCORE = frozenset({"score", "returns"})


def surrogate(batch: LossBatch) -> Any:
    return -(batch.logp_N - batch.old_logp_N).exp() * batch.advantage_N


def per_rollout(batch: LossBatch) -> Any:
    return batch.sum_by_rollout(batch.logp_N)


def margin(batch: LossBatch) -> Any:
    return -batch.sum_by_group(batch.side_R * per_rollout(batch))


def squared_error(batch: LossBatch) -> Any:
    return (batch.value_N - batch.return_N).square()  # type: ignore[operator]


def per_turn(batch: LossBatch) -> Any:
    return (batch.turn_score_S - batch.return_N[batch.turn_end_S]).square()  # type: ignore[operator, index]


def with_metric(values: Callable[[LossBatch], Any]) -> Callable[[LossBatch], LossTerms]:
    return lambda batch: LossTerms(term=batch.logp_N, metrics={"x": values(batch)})


def preferred(rollout: Credited) -> bool:
    return float(rollout.advantage[rollout.policy_mask].sum()) > 0


def shuffled(batch: LossBatch) -> Any:
    return -(batch.logp_N * batch.advantage_N).flip(0)


def whitened(batch: LossBatch) -> Any:
    return -batch.logp_N * (batch.advantage_N - batch.advantage_N.mean()) / batch.advantage_N.std(correction=0)


def detached_mean(batch: LossBatch) -> Any:
    """The terms are right; each has the gradient of their mean."""
    term = -batch.logp_N * batch.advantage_N
    mean = term.mean()
    return term.detach() + (mean - mean.detach())


@pytest.mark.parametrize(
    "loss",
    [
        Term(lambda b: -b.logp_N * b.advantage_N, silent_without_advantage=True),
        Term(surrogate, needs=OLD, silent_without_advantage=True),
        Term(per_rollout, "rollout", counts=preferred),
        Term(margin, "group", silent_without_advantage=True),
        Term(squared_error, needs=VALUE, reads_policy=False),
        Term(per_turn, "turn", needs=SCORE, reads_policy=False, counts=preferred),
    ],
)
def test_good_losses_pass(loss: Term) -> None:
    """Terms by token, by turn, by rollout and by group, of the policy and of the critic, are sound."""
    check_loss(loss)


@pytest.mark.parametrize(
    ("loss", "found"),
    [
        (Term(lambda b: -b.logp_N.mean()), "shape"),
        (Term(lambda b: -b.logp_N, "rollout"), "shape"),
        (Term(lambda b: -b.logp_N / len(b.logp_N)), "never divide"),
        (Term(lambda b: per_rollout(b) / b.num_rollouts, "rollout"), "never divide"),
        (Term(lambda b: margin(b) / b.num_groups, "group"), "never divide"),
        (Term(lambda b: per_turn(b) / len(b.turn_end_S), "turn", needs=SCORE), "never divide"),
        (Term(lambda b: per_turn(b).flip(0), "turn", needs=SCORE), "what a unit shares a batch with"),
        (Term(lambda b: b.score_R, "turn", needs=SCORE), "shape"),
        (Term(lambda b: b.logp_N.log()), "not finite"),
        (Term(lambda b: (b.logp_N - b.logp_N.detach()).abs().sqrt()), "gradient of logp_N"),
        (Term(lambda b: b.logp_N * (b.rollout_N == 0)), "never divide"),
        (Term(whitened), "what a unit shares a batch with changed the terms"),
        (Term(lambda b: per_rollout(b) - per_rollout(b).mean(), "rollout"), "what a unit shares a batch with"),
        (Term(detached_mean), "what a unit shares a batch with changed the gradient"),
        (Term(shuffled), "what a unit shares a batch with"),
        (Term(lambda b: b.logp_N * b.logp_N.new_ones(1).uniform_()), "earlier calls"),
        (Term(with_metric(lambda b: b.logp_N)), "metric 'x' is not detached"),
        (Term(with_metric(lambda b: b.logp_N.detach().sum())), "one value a unit"),
        (Term(with_metric(lambda b: b.logp_N.detach() / 0)), "metric 'x' is not finite"),
        (Term(surrogate), "does not say that it needs 'old_logp'"),
        (Term(lambda b: b.entropy_N, reads_policy=False), "reads_policy is False"),
        (Term(lambda b: 0 * b.logp_N, reads_policy=False), "reads_policy is False"),
        (Term(lambda b: b.logp_N, silent_without_advantage=True), "a term without advantage is"),
        (Term(lambda b: b.logp_N - b.logp_N.detach(), silent_without_advantage=True), "a gradient without advantage"),
        (Term(margin, "group", counts=preferred), "for the units"),
        (Term(per_rollout, "rollout", counts=lambda r: float(np.nansum(r.advantage)) > 0), "counts.. depends on masked positions"),
        (Term(per_rollout, "rollout", counts=lambda r: None), "not True or False"),
        (Term(lambda b: b.logp_N, needs=frozenset({"entropie"})), "entropie"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:invalid value")
def test_bad_losses_are_found(loss: Term, found: str) -> None:
    """Means, division, whitening in a micro-batch, a gradient that is not the term's, another order, chance, wrong units, infinite
    terms, gradients or metrics, and what a loss says of itself that is not so."""
    with pytest.raises(AssertionError, match=found):
        check_loss(loss)


def test_a_lonely_member_is_no_pair() -> None:
    """A filter or a failure may leave one: dividing by the two sides of a pair is found."""

    def between_sides(batch: LossBatch) -> Any:
        both = batch.sum_by_group((batch.side_R > 0).double()) * batch.sum_by_group((batch.side_R < 0).double())
        return margin(batch) / both

    with pytest.raises(AssertionError, match="not finite"):
        check_loss(Term(between_sides, "group"))
