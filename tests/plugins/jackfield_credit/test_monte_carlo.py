"""Return to go over policy tokens."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Literal

import pytest

from jackfield.types import Credited, Group, Measured
from jackfield_credit.gae import Gae
from jackfield_credit.monte_carlo import MonteCarlo

Make = Callable[..., Measured]
MakeGroup = Callable[..., Group[Measured]]


def at_policy(rollout: Credited) -> tuple[list[float], list[float]]:
    """Advantages and returns where the policy wrote."""
    assert rollout.returns is not None
    return rollout.advantage[rollout.policy_mask].tolist(), rollout.returns[rollout.policy_mask].tolist()


def by_definition(rewards: list[float], gamma: float) -> list[float]:
    """G_t = Σ_l γ^l r_{t+l}: not the recursion under test."""
    return [math.fsum(gamma**later * reward for later, reward in enumerate(rewards[now:])) for now in range(len(rewards))]


def test_hand_computed(measured: Make, group: MakeGroup) -> None:
    """γ = ½, rewards 0, −¼ (a turn's or a penalty), 1 around an observation: G = 1, −¼ + ½ = ¼, ⅛."""
    rollout = measured("PAEEAA", rewards=[0, -0.25, 1], values=[0.5, 0.25, 0.75])
    [plain] = MonteCarlo(gamma=0.5).credit([group(rollout)])[0].members
    assert at_policy(plain) == ([0.125, 0.25, 1.0], [0.125, 0.25, 1.0])
    [against_value] = MonteCarlo(gamma=0.5, baseline="value").credit([group(rollout)])[0].members
    assert at_policy(against_value) == ([-0.375, 0.0, 0.25], [0.125, 0.25, 1.0])


def test_an_outcome_reaches_every_token_undiscounted(measured: Make, group: MakeGroup) -> None:
    """REINFORCE with the defaults: the outcome on every token."""
    [credited] = MonteCarlo().credit([group(measured("PAEAA", rewards=[0, 0, 1]))])[0].members
    assert at_policy(credited)[0] == [1.0, 1.0, 1.0]


def test_ragged_groups_match_the_definition(measured: Make, group: MakeGroup) -> None:
    """Many rollouts of different lengths at once, observations between their tokens, give each its own sums."""
    rng = random.Random(5)
    rows = [[rng.gauss(0, 1) for _ in range(length)] for length in (4, 0, 19, 1, 7)]
    rollouts = [measured("P" + "EA" * len(row), rewards=row) for row in rows]
    credited = MonteCarlo(gamma=0.9).credit([group(*rollouts[:3]), group(*rollouts[3:])])
    for member, row in zip((m for g in credited for m in g), rows, strict=True):
        assert at_policy(member)[0] == pytest.approx(by_definition(row, 0.9), abs=1e-12)


def test_a_cut_off_rollout_has_earned_what_it_has(measured: Make, group: MakeGroup) -> None:
    """Nothing is bootstrapped, with or without a critic."""
    rollout = measured("PAA", rewards=[0.5, 0], values=[0.1, 0.2], reason="length", bootstrap=100.0)
    baselines: tuple[Literal["none", "value"], ...] = ("none", "value")
    for baseline in baselines:
        [credited] = MonteCarlo(baseline=baseline).credit([group(rollout)])[0].members
        assert at_policy(credited)[1] == [0.5, 0.0]


def test_it_is_gae_without_a_look_ahead(measured: Make, group: MakeGroup) -> None:
    """With a critic, λ = 1 gives the same where nothing was cut off, whitening included: two ways to one number."""
    rng = random.Random(6)
    rollouts = []
    for length in (3, 9, 1):
        rewards, values = ([rng.gauss(0, 1) for _ in range(length)] for _ in range(2))
        rollouts.append(measured("P" + "AE" * length, rewards=rewards, values=values))
    for whiten in (True, False):
        ours = MonteCarlo(gamma=0.8, baseline="value", whiten=whiten).credit([group(*rollouts)])[0]
        theirs = Gae(gamma=0.8, lam=1.0, whiten=whiten).credit([group(*rollouts)])[0]
        for one, other in zip(ours, theirs, strict=True):
            assert at_policy(one)[0] == pytest.approx(at_policy(other)[0], abs=1e-12)
            assert at_policy(one)[1] == pytest.approx(at_policy(other)[1], abs=1e-12)


def test_whitening_leaves_returns_alone(measured: Make, group: MakeGroup) -> None:
    """Returns 1, 1 and −1 have mean 1/3 and population variance 8/9; the critic's targets stay what they are."""
    pair = group(measured("PAEA", rewards=[0, 1]), measured("PA", rewards=[-1]))
    first, second = MonteCarlo(whiten=True).credit([pair])[0].members
    assert at_policy(first) == (pytest.approx([math.sqrt(0.5)] * 2, abs=1e-7), [1.0, 1.0])
    assert at_policy(second) == (pytest.approx([-math.sqrt(2)], abs=1e-7), [-1.0])


def test_the_critic_is_held_only_where_it_is_read(measured: Make, group: MakeGroup) -> None:
    """Without a baseline there is no need for values; with one, missing values are an error."""
    assert MonteCarlo().needs == frozenset()
    assert MonteCarlo(baseline="value").needs == {"value"}
    with pytest.raises(ValueError, match="without them"):
        MonteCarlo(baseline="value").credit([group(measured("PA", rewards=[1]))])
