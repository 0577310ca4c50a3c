"""One-step temporal differences over policy tokens."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from jackfield.types import Credited, Group, Measured
from jackfield_credit.gae import Gae
from jackfield_credit.td0 import Td0

Make = Callable[..., Measured]
MakeGroup = Callable[..., Group[Measured]]


def at_policy(rollout: Credited) -> tuple[list[float], list[float]]:
    """Advantages and returns where the policy wrote."""
    assert rollout.returns is not None
    return rollout.advantage[rollout.policy_mask].tolist(), rollout.returns[rollout.policy_mask].tolist()


@pytest.mark.parametrize(
    ("reason", "bootstrap_truncated", "last"),
    [("answer", True, 0.0), ("length", True, 0.4), ("turns", True, 0.4), ("length", False, 0.0), ("tool_loop", True, 0.0)],
)
def test_hand_computed(measured: Make, group: MakeGroup, reason: str, bootstrap_truncated: bool, last: float) -> None:
    """γ = ½: δ = 0 + 0.1 − 0.4, 1 + 0.3 − 0.2 (across an observation), 0 + ½·end − 0.6; pitfall 32: the end is 0.8 only if cut off."""
    rollout = measured("PAAEEA", rewards=[0, 1, 0], values=[0.4, 0.2, 0.6], reason=reason, bootstrap=0.8)
    [credited] = Td0(gamma=0.5, whiten=False, bootstrap_truncated=bootstrap_truncated).credit([group(rollout)])[0].members
    advantage, returns = at_policy(credited)
    assert advantage == pytest.approx([-0.3, 1.1, last - 0.6], abs=1e-12)
    assert returns == pytest.approx([0.1, 1.3, last], abs=1e-12)


def test_it_is_gae_at_lambda_0(measured: Make, group: MakeGroup) -> None:
    """The same numbers, whitened or not, over rollouts of any length and end."""
    rng = random.Random(8)
    rollouts = []
    for length, reason in ((3, "length"), (9, "answer"), (0, "turns"), (1, "eos")):
        rewards, values = ([rng.gauss(0, 1) for _ in range(length)] for _ in range(2))
        rollouts.append(measured("P" + "AE" * length, rewards=rewards, values=values, reason=reason, bootstrap=rng.gauss(0, 1)))
    for whiten in (True, False):
        ours = Td0(gamma=0.8, whiten=whiten).credit([group(*rollouts)])[0]
        theirs = Gae(gamma=0.8, lam=0.0, whiten=whiten).credit([group(*rollouts)])[0]
        assert [at_policy(m) for m in ours] == [at_policy(m) for m in theirs]


def test_a_perfect_critic_leaves_nothing_to_credit(measured: Make, group: MakeGroup) -> None:
    """Where every value is what is still to come, every δ is 0."""
    rollout = measured("PAEA", rewards=[0.5, 1.0], values=[1.5, 1.0])
    [credited] = Td0().credit([group(rollout)])[0].members
    assert at_policy(credited) == ([0.0, 0.0], [1.5, 1.0])


def test_whitening_is_over_the_step(measured: Make, group: MakeGroup) -> None:
    """δ of 1, 1 (one group) and −1 (another) have mean 1/3 and population variance 8/9; targets are not whitened."""
    one, other = group(measured("PAEA", rewards=[1, 1], values=[0, 0])), group(measured("PA", rewards=[-1], values=[0]))
    first, second = Td0(gamma=0.0).credit([one, other])
    assert at_policy(first.members[0]) == (pytest.approx([math.sqrt(0.5)] * 2, abs=1e-7), [1.0, 1.0])
    assert at_policy(second.members[0]) == (pytest.approx([-math.sqrt(2)], abs=1e-7), [-1.0])


def test_what_must_be_there(measured: Make, group: MakeGroup) -> None:
    """Values, and where a budget cut in the value after it: never taken for 0."""
    with pytest.raises(ValueError, match="without them"):
        Td0().credit([group(measured("PA", rewards=[1]))])
    with pytest.raises(ValueError, match="no bootstrap_value"):
        Td0().credit([group(measured("PA", rewards=[1], values=[0], reason="length", bootstrap=None))])
