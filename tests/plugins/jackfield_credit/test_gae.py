"""Generalised advantage estimation over policy tokens."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable

import numpy as np
import pytest

from jackfield.types import Credited, Group, Measured
from jackfield_credit.gae import Gae

Make = Callable[..., Measured]
MakeGroup = Callable[..., Group[Measured]]


def at_policy(rollout: Credited) -> tuple[list[float], list[float]]:
    """Advantages and returns where the policy wrote."""
    assert rollout.returns is not None
    return rollout.advantage[rollout.policy_mask].tolist(), rollout.returns[rollout.policy_mask].tolist()


def by_definition(rewards: list[float], values: list[float], end: float, gamma: float, lam: float) -> list[float]:
    """Equation 16 as a sum, A_t = Σ_l (γλ)^l δ_{t+l}: not the recursion under test."""
    following = [*values, end][1:]
    deltas = [r + gamma * n - v for r, n, v in zip(rewards, following, values, strict=True)]
    return [
        math.fsum((gamma * lam) ** (later - now) * deltas[later] for later in range(now, len(deltas))) for now in range(len(deltas))
    ]


def test_hand_computed(measured: Make, group: MakeGroup) -> None:
    """γ = 0.9, λ = 0.5, three policy tokens around an observation, outcome 1 on the last.

    δ_2 = 1 − 0.7 = 0.3;  δ_1 = 0.9·0.7 − 0.6 = 0.03;  δ_0 = 0.9·0.6 − 0.5 = 0.04;  γλ = 0.45
    A_2 = 0.3;  A_1 = 0.03 + 0.45·0.3 = 0.165;  A_0 = 0.04 + 0.45·0.165 = 0.11425
    returns: 1.0, 0.765, 0.61425
    """
    rollout = measured("PAAEEEA", rewards=[0, 0, 1], values=[0.5, 0.6, 0.7])
    [credited] = Gae(gamma=0.9, lam=0.5, whiten=False).credit([group(rollout)])[0].members
    advantage, returns = at_policy(credited)
    assert advantage == pytest.approx([0.11425, 0.165, 0.3], abs=1e-12)
    assert returns == pytest.approx([0.61425, 0.765, 1.0], abs=1e-12)
    assert np.isnan(credited.advantage[~credited.policy_mask]).all()


def test_observations_are_not_time(measured: Make, group: MakeGroup) -> None:
    """Pitfall 31: whatever observations stand between policy tokens, credit is as if they were not there."""
    kwargs = {"rewards": [0, -0.1, 0, 1], "values": [0.3, 0.1, 0.4, 0.2]}
    gae = Gae(gamma=0.9, lam=0.8, whiten=False)
    plain, woven = gae.credit([group(measured("PAAAA", **kwargs)), group(measured("PAEEEEAEAEEAEE", **kwargs))])
    assert at_policy(plain.members[0]) == at_policy(woven.members[0])


@pytest.mark.parametrize("elsewhere", [np.nan, np.inf, 1e30, 0.0])
def test_what_the_policy_did_not_write_is_never_read(measured: Make, group: MakeGroup, elsewhere: float) -> None:
    """Rewards and values outside policy tokens may hold anything, whitening included."""

    def credit(fill: float) -> list[tuple[list[float], list[float]]]:
        rollouts = [
            measured("PPAAEEAAE", rewards=[0, 0, 0, 1], values=[0.3, 0.1, 0.4, 0.2], elsewhere=fill),
            measured("PAE", rewards=[0], values=[0.5], elsewhere=fill),
        ]
        return [at_policy(member) for member in Gae(gamma=0.9, lam=0.8).credit([group(*rollouts)])[0]]

    assert credit(elsewhere) == credit(-7.0)


def test_ragged_groups_match_the_definition(measured: Make, group: MakeGroup) -> None:
    """Many rollouts of different lengths at once give, each, the sum of equation 16; returns come from ``critic_lam``."""
    rng = random.Random(3)
    rollouts, expected = [], []
    for length in (1, 5, 17, 0, 3):
        rewards, values = [rng.gauss(0, 1) for _ in range(length)], [rng.gauss(0, 1) for _ in range(length)]
        end = rng.gauss(0, 1)
        rollouts.append(measured("P" + "EA" * length, rewards=rewards, values=values, reason="length", bootstrap=end))
        targets = by_definition(rewards, values, end, 0.97, 1.0)
        expected.append((by_definition(rewards, values, end, 0.97, 0.9), [t + v for t, v in zip(targets, values, strict=True)]))
    credited = Gae(gamma=0.97, lam=0.9, critic_lam=1.0, whiten=False).credit([group(*rollouts[:2]), group(*rollouts[2:])])
    assert [len(g) for g in credited] == [2, 3]
    for member, (advantage, returns) in zip((m for g in credited for m in g), expected, strict=True):
        got_advantage, got_returns = at_policy(member)
        assert got_advantage == pytest.approx(advantage, abs=1e-12)
        assert got_returns == pytest.approx(returns, abs=1e-12)


def test_gamma_and_lambda_one_give_reward_to_go(measured: Make, group: MakeGroup) -> None:
    """With γ = λ = 1 every return is the outcome and every advantage the outcome less the value."""
    rollout = measured("PAEAA", rewards=[0, 0, 1], values=[0.2, 0.9, 0.5])
    [credited] = Gae(whiten=False).credit([group(rollout)])[0].members
    advantage, returns = at_policy(credited)
    assert returns == pytest.approx([1, 1, 1])
    assert advantage == pytest.approx([0.8, 0.1, 0.5])


@pytest.mark.parametrize(
    ("reason", "bootstrap_truncated", "last"),
    [("length", True, 0.4), ("turns", True, 0.4), ("length", False, -0.2), ("eos", True, -0.2), ("answer", True, -0.2)],
)
def test_bootstrap(measured: Make, group: MakeGroup, reason: str, bootstrap_truncated: bool, last: float) -> None:
    """Pitfall 32: only what was cut off from outside ends with the critic's value (0 + 0.6 − 0.2 = 0.4, else 0 − 0.2)."""
    rollout = measured("PA", rewards=[0], values=[0.2], reason=reason, bootstrap=0.6)
    [credited] = Gae(whiten=False, bootstrap_truncated=bootstrap_truncated).credit([group(rollout)])[0].members
    assert at_policy(credited)[0] == pytest.approx([last])


def test_truncated_without_a_bootstrap_value_is_an_error(measured: Make, group: MakeGroup) -> None:
    """A missing value is never taken for 0."""
    rollout = measured("PA", rewards=[0], values=[0.2], reason="length", bootstrap=None)
    with pytest.raises(ValueError, match="no bootstrap_value"):
        Gae().credit([group(rollout)])


def test_whitening_is_over_policy_tokens_only(measured: Make, group: MakeGroup) -> None:
    """A4, pitfall 30: advantages [2, 2] and [−2] have mean 2/3 (not 0.25), population variance 32/9.

    (2 − 2/3) / √(32/9) = 0.70711;  (−2 − 2/3) / √(32/9) = −1.41421
    """
    pair = group(measured("PAAE", rewards=[2, 2], values=[0, 0]), measured("PAEE", rewards=[-2], values=[0]))
    first, second = Gae(gamma=0.0, lam=0.0).credit([pair])[0].members
    assert at_policy(first)[0] == pytest.approx([math.sqrt(0.5)] * 2, abs=1e-8)
    assert at_policy(second)[0] == pytest.approx([-math.sqrt(2)], abs=1e-8)


def test_returns_are_not_whitened(measured: Make, group: MakeGroup) -> None:
    """Pitfall 33: the critic's target is the same with and without whitening."""
    pair = group(measured("PAAE", rewards=[0, 1], values=[0.1, 0.3]), measured("PAEE", rewards=[0], values=[0.4]))
    white, plain = (Gae(whiten=whiten).credit([pair])[0].members for whiten in (True, False))
    assert [at_policy(m)[1] for m in white] == [at_policy(m)[1] for m in plain]
    assert [at_policy(m)[0] for m in white] != [at_policy(m)[0] for m in plain]


@pytest.mark.parametrize("value", [0.1, 0.7])
def test_equal_advantages_whiten_to_exactly_zero(measured: Make, group: MakeGroup, value: float) -> None:
    """Pitfall 35: a spread of nothing but rounding is not blown up."""
    rollouts = [measured("PA", rewards=[1], values=[value]) for _ in range(7)]
    assert [at_policy(m)[0] for m in Gae().credit([group(*rollouts)])[0]] == [[0.0]] * 7


def test_rollouts_in_which_the_policy_wrote_nothing(measured: Make, group: MakeGroup) -> None:
    """They pass through, alone (even truncated, without a value) or beside others."""
    empty = measured("PE", rewards=[], values=[], reason="length", bootstrap=None)
    alone = Gae().credit([group(empty)])[0].members[0]
    assert np.isnan(alone.advantage).all()
    assert len(alone.advantage) == 2
    _, other = Gae(whiten=False).credit([group(empty, measured("PA", rewards=[1], values=[0]))])[0].members
    assert at_policy(other)[0] == [1.0]
    assert Gae().credit([]) == []


def test_a_large_step_is_quick(measured: Make, group: MakeGroup) -> None:
    """512 rollouts of 500 policy tokens take well under a second."""
    rollouts = [measured("P" + "A" * 500, rewards=[0.0] * 500, values=[0.5] * 500) for _ in range(512)]
    start = time.process_time()
    Gae(lam=0.95).credit([group(*rollouts)])
    assert time.process_time() - start < 2.0


@pytest.mark.parametrize("keys", [{"gamma": 1.5}, {"lam": -0.1}, {"critic_lam": 2.0}])
def test_keys_out_of_range(keys: dict[str, float]) -> None:
    """γ and both λ lie in [0, 1]."""
    with pytest.raises(ValueError, match=f"{next(iter(keys))}: must lie between 0 and 1"):
        Gae(**keys)
