"""The check of penalties finds the fault it is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import pytest

from jackfield.testing.contracts import check_penalty
from jackfield.types import Measured


class Cost:
    """A penalty made of a function."""

    needs: ClassVar[frozenset[str]] = frozenset({"old_logp", "ref_logp"})

    def __init__(self, penalty: Callable[[Measured], Any]) -> None:
        self.function = penalty

    def penalty(self, rollout: Measured) -> Any:
        return self.function(rollout)


class Adaptive(Cost):
    """Its coefficient follows a metric; ``forgets`` leaves it out of what is written down."""

    def __init__(self, *, forgets: bool) -> None:
        super().__init__(self.constant)
        self.coefficient = 1.0
        self.forgets = forgets

    def constant(self, rollout: Measured) -> Any:
        return np.full(len(rollout.tokens), self.coefficient)

    def after_step(self, metrics: Mapping[str, float]) -> None:
        self.coefficient *= 1 + metrics["kl/reference"]

    def state(self) -> dict[str, float]:
        return {} if self.forgets else {"coefficient": self.coefficient}

    def restore(self, state: Mapping[str, float]) -> None:
        self.coefficient = state.get("coefficient", self.coefficient)


def log_ratio(rollout: Measured) -> Any:
    return rollout.old_logp - rollout.ref_logp  # type: ignore[operator]


def whole_sequence(rollout: Measured) -> Any:
    return np.full(len(rollout.tokens), np.nansum(log_ratio(rollout)))


def in_place(rollout: Measured) -> Any:
    rollout.token_reward[rollout.policy_mask] -= 1
    return np.zeros(len(rollout.tokens))


def counted() -> Callable[[Measured], Any]:
    calls: list[int] = []

    def penalty(rollout: Measured) -> Any:
        calls.append(1)
        return np.full(len(rollout.tokens), len(calls) * 1.0)

    return penalty


def test_good_penalties_pass() -> None:
    """What stands elsewhere may be anything, also NaN; a coefficient may learn."""
    check_penalty(Cost(log_ratio))
    check_penalty(Adaptive(forgets=False))


@pytest.mark.parametrize(
    ("penalty", "found"),
    [
        (Cost(lambda r: log_ratio(r)[r.policy_mask]), "has the shape"),
        (Cost(lambda r: 0.1), "has the shape None"),
        (Cost(lambda r: np.full(len(r.tokens), np.inf)), "not finite"),
        (Cost(lambda r: log_ratio(r) - log_ratio(r).mean()), "not finite"),
        (Cost(whole_sequence), "masked positions"),
        (Cost(in_place), "wrote into its input: token_reward"),
        (Cost(counted()), "earlier calls"),
        (Adaptive(forgets=True), r"state\(\) does not hold"),
    ],
)
def test_bad_penalties_are_found(penalty: Cost, found: str) -> None:
    """Wrong shapes, infinite values, reading or writing what is not the policy's own, memory."""
    with pytest.raises(AssertionError, match=found):
        check_penalty(penalty)


def test_needs_are_those_measured_before() -> None:
    """Returns and scores come later."""
    penalty = Cost(log_ratio)
    penalty.needs = frozenset({"returns"})  # type: ignore[misc]
    with pytest.raises(AssertionError, match="returns"):
        check_penalty(penalty)
