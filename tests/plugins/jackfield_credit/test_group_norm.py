"""Group-relative advantages."""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np
import pytest

from jackfield.types import Credited, Group, Measured
from jackfield_credit.group_norm import GroupNorm

Make = Callable[..., Measured]
MakeGroup = Callable[..., Group[Measured]]


def of_members(credited: Group[Credited]) -> list[float]:
    """The one advantage of each member."""
    values = [set(m.advantage[m.policy_mask].tolist()) for m in credited]
    assert all(len(v) == 1 for v in values)
    return [v.pop() for v in values]


def test_hand_computed(measured: Make, group: MakeGroup) -> None:
    """Rewards 1, 0, 0, 0: mean 1/4, sample std 1/2, so 1.5 and −0.5; without scaling 0.75 and −0.25 (pitfall 36: n − 1)."""
    rollouts = [measured("PAEAA", rewards=[0, 0, r]) for r in (1, 0, 0, 0)]
    [scaled] = GroupNorm(epsilon=0).credit([group(*rollouts)])
    assert of_members(scaled) == pytest.approx([1.5, -0.5, -0.5, -0.5], abs=1e-12)
    [centred] = GroupNorm(scale_by_std=False).credit([group(*rollouts)])
    assert of_members(centred) == pytest.approx([0.75, -0.25, -0.25, -0.25], abs=1e-12)
    assert np.isnan(scaled.members[0].advantage[~scaled.members[0].policy_mask]).all()
    assert scaled.members[0].returns is None


def test_epsilon_is_added_to_the_standard_deviation(measured: Make, group: MakeGroup) -> None:
    """Rewards 1, 0: std √½, so ½ / (√½ + 0.5)."""
    [credited] = GroupNorm(epsilon=0.5).credit([group(measured("PA", rewards=[1]), measured("PA", rewards=[0]))])
    assert of_members(credited) == pytest.approx([0.4142135624, -0.4142135624], abs=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reward", [0.1, 1.0, -0.3, 1e-9])
@pytest.mark.parametrize("scale_by_std", [True, False])
def test_equal_rewards_give_exactly_zero(reward: float, scale_by_std: bool, dtype: type) -> None:
    """A1, pitfall 35: seven rewards of 0.1 have a mean that is not 0.1."""
    advantage = GroupNorm(epsilon=0, scale_by_std=scale_by_std).advantages(np.full(7, reward, dtype))
    assert advantage.tolist() == [0.0] * 7


def test_one_in_eight_is_bounded() -> None:
    """A2: rewards 0 and seven times 0.95 stay within (n − 1)/√n of 0, the bound of the sample standard deviation."""
    advantage = GroupNorm().advantages(np.array([0.0] + [0.95] * 7))
    assert advantage[0] == pytest.approx(-7 / 8**0.5, abs=1e-4)
    rewards = [0.0] + [0.95] * 7
    expected = [(r - statistics.fmean(rewards)) / (statistics.stdev(rewards) + 1e-6) for r in rewards]
    assert advantage.tolist() == pytest.approx(expected, abs=1e-12)


def test_the_scale_does_not_blow_up_rounding() -> None:
    """Rewards that differ by the rounding of float32 give next to nothing, not a full advantage."""
    advantage = GroupNorm().advantages(np.array([0.1, float(np.float32(0.1))]))
    assert np.abs(advantage).max() < 1e-2


def test_groups_do_not_see_each_other(measured: Make, group: MakeGroup) -> None:
    """A group's advantages are the same beside any other group."""
    one = group(measured("PA", rewards=[1]), measured("PAA", rewards=[0, 0]))
    other = group(measured("PA", rewards=[100]), measured("PA", rewards=[-100]))
    assert of_members(GroupNorm().credit([one, other])[0]) == of_members(GroupNorm().credit([one])[0])


def test_a_rollout_in_which_the_policy_wrote_nothing_counts(measured: Make, group: MakeGroup) -> None:
    """It has no token to learn from, but its reward is part of the group's mean."""
    silent = measured("PE", rewards=[])
    [credited] = GroupNorm(scale_by_std=False).credit([group(silent, measured("PA", rewards=[1]))])
    assert of_members(Group(id="", task=credited.task, members=credited.members[1:])) == [0.5]
    assert np.isnan(credited.members[0].advantage).all()


def test_what_recipes_are_held_to() -> None:
    """A12: a group of one has nothing to be compared with."""
    assert (GroupNorm.smallest_group, GroupNorm.uses_reward) == (2, True)
