"""RLOO."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from jackfield.types import Credited, Group, Measured
from jackfield_credit.leave_one_out import LeaveOneOut

Make = Callable[..., Measured]
MakeGroup = Callable[..., Group[Measured]]


def of_members(credited: Group[Credited]) -> list[float]:
    """The one advantage of each member."""
    values = [set(m.advantage[m.policy_mask].tolist()) for m in credited]
    assert all(len(v) == 1 for v in values)
    return [v.pop() for v in values]


def test_hand_computed(measured: Make, group: MakeGroup) -> None:
    """Totals 1, 0, 0.5 (1 less penalties): against the means of the others ¼, ¾, ½."""
    rollouts = [measured("PAEA", rewards=[0, 1]), measured("PA", rewards=[0]), measured("PAEEA", rewards=[-0.25, 0.75])]
    [credited] = LeaveOneOut().credit([group(*rollouts)])
    assert of_members(credited) == pytest.approx([0.75, -0.75, 0.0], abs=1e-12)
    assert credited.members[0].returns is None
    assert np.isnan(credited.members[0].advantage[~credited.members[0].policy_mask]).all()


def test_one_in_eight_is_bounded() -> None:
    """A2: rewards 0 and seven times 0.95, for which a spread of the others would divide by 0, give −0.95 and 0.95/7."""
    advantage = LeaveOneOut().advantages(np.array([0.0] + [0.95] * 7))
    assert advantage.tolist() == pytest.approx([-0.95] + [0.95 / 7] * 7, abs=1e-12)


def test_the_definition_in_fractions() -> None:
    """Against sums over j ≠ i in exact arithmetic."""
    rewards = np.random.default_rng(1).normal(size=6).round(3)
    exact = [Fraction(float(r)) for r in rewards]
    expected = [float(own - sum(exact[:i] + exact[i + 1 :]) / 5) for i, own in enumerate(exact)]
    assert LeaveOneOut().advantages(rewards).tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("reward", [0.1, 1.0, -0.3, 1e-9])
@pytest.mark.parametrize("members", [1, 7])
def test_equal_rewards_give_exactly_zero(reward: float, members: int) -> None:
    """A1, pitfall 35: the mean of six rewards of 0.1 is not 0.1; a group of one (which the core leaves out) is not divided by 0."""
    assert LeaveOneOut().advantages(np.full(members, reward)).tolist() == [0.0] * members


def test_the_policy_gradient_is_unbiased() -> None:
    """Over every outcome of groups of three from a policy with three actions, Σ A ∇log π / G is exactly the gradient of the expected
    reward: the baseline takes nothing away, as the group's own mean would (2/3 would be left)."""
    reward = np.array([1.0, 0.0, 0.3])
    logits = np.array([0.2, -0.5, 0.9])
    probability = np.exp(logits) / np.exp(logits).sum()
    gradient = probability * (reward - probability @ reward)
    found = np.zeros(3)
    for actions in itertools.product(range(3), repeat=3):
        advantage = LeaveOneOut().advantages(reward[list(actions)])
        score = np.eye(3)[list(actions)] - probability
        found += math.prod(probability[list(actions)]) * (advantage @ score) / 3
    assert found == pytest.approx(gradient, abs=1e-12)
    assert np.abs(gradient).max() > 0.1


def test_a_silent_member_counts_for_the_others(measured: Make, group: MakeGroup) -> None:
    """It has no token to learn from, but its reward is part of the others' mean."""
    silent = measured("PE", rewards=[])
    [credited] = LeaveOneOut().credit([group(silent, measured("PA", rewards=[1]))])
    assert credited.members[1].advantage.tolist() == pytest.approx([np.nan, 1.0], nan_ok=True)
    assert np.isnan(credited.members[0].advantage).all()


def test_what_recipes_are_held_to() -> None:
    """A12: a group of one has nothing to be compared with."""
    assert (LeaveOneOut.smallest_group, LeaveOneOut.uses_reward) == (2, True)
