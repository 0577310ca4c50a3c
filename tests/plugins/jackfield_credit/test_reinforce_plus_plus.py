"""REINFORCE++."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable

import numpy as np
import pytest

from jackfield.types import Credited, Group, Measured
from jackfield_credit.reinforce_plus_plus import ReinforcePlusPlus

Make = Callable[..., Measured]
MakeGroup = Callable[..., Group[Measured]]


def at_policy(groups: list[Group[Credited]]) -> list[list[float]]:
    return [m.advantage[m.policy_mask].tolist() for g in groups for m in g]


def test_hand_computed(measured: Make, group: MakeGroup) -> None:
    """Penalty ½ on the first token, outcome 1: returns ½, 1; another earns 0. Mean ½, population variance 1/6, so 0, √1.5, −√1.5."""
    credited = ReinforcePlusPlus().credit([group(measured("PAEA", rewards=[-0.5, 1])), group(measured("PA", rewards=[0]))])
    first, second = at_policy(credited)
    assert first == pytest.approx([0.0, math.sqrt(1.5)], abs=1e-7)
    assert second == pytest.approx([-math.sqrt(1.5)], abs=1e-7)
    assert credited[0].members[0].returns is None
    assert np.isnan(credited[0].members[0].advantage[[0, 2]]).all()


def test_the_definition(measured: Make, group: MakeGroup) -> None:
    """Sums over what follows, and mean and deviation over all policy tokens, by other means; pitfall 30: over these only."""
    rng = random.Random(2)
    rows = [[rng.gauss(0, 1) for _ in range(length)] for length in (4, 1, 11, 0, 6)]
    rollouts = [measured("PE" + "AEE" * len(row), rewards=row) for row in rows]
    to_go = [[math.fsum(row[now:]) for now in range(len(row))] for row in rows]
    every = [g for row in to_go for g in row]
    mean, spread = statistics.fmean(every), math.sqrt(statistics.pvariance(every) + 1e-8)
    found = at_policy(ReinforcePlusPlus().credit([group(*rollouts[:2]), group(*rollouts[2:])]))
    for row, expected in zip(found, to_go, strict=True):
        assert row == pytest.approx([(g - mean) / spread for g in expected], abs=1e-12)


def test_groups_play_no_part(measured: Make, group: MakeGroup) -> None:
    """The same numbers however rollouts are grouped; a group of equal rewards learns from the rest of the step."""
    rollouts = [measured("PA", rewards=[r]) for r in (1, 1, 0, 0)]
    together = at_policy(ReinforcePlusPlus().credit([group(*rollouts)]))
    apart = at_policy(ReinforcePlusPlus().credit([group(*rollouts[:2]), group(*rollouts[2:])]))
    assert together == apart == [pytest.approx([sign], abs=1e-7) for sign in (1, 1, -1, -1)]
    assert ReinforcePlusPlus.smallest_group == 1


@pytest.mark.parametrize("reward", [0.1, -0.3])
def test_all_equal_is_exactly_zero(measured: Make, group: MakeGroup, reward: float) -> None:
    """A1, pitfall 35: a step in which everything earned the same moves nothing, rounding or not; so does a single token."""
    for rollouts in ([measured("PAEA", rewards=[0, reward])] * 7, [measured("PA", rewards=[reward])]):
        assert {a for row in at_policy(ReinforcePlusPlus().credit([group(*rollouts)])) for a in row} == {0.0}
