"""What holds for every estimator alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve

from jackfield.stages import Advantage
from jackfield.types import FloatArray, Group, Measured
from jackfield_credit.constant import Constant
from jackfield_credit.gae import Gae
from jackfield_credit.group_norm import GroupNorm
from jackfield_credit.leave_one_out import LeaveOneOut
from jackfield_credit.monte_carlo import MonteCarlo
from jackfield_credit.pairs import Pairs
from jackfield_credit.reinforce_plus_plus import ReinforcePlusPlus
from jackfield_credit.running_baseline import RunningBaseline
from jackfield_credit.td0 import Td0

ESTIMATORS: list[Advantage] = [
    Constant(),
    Gae(gamma=0.9, lam=0.8),
    GroupNorm(),
    LeaveOneOut(),
    MonteCarlo(gamma=0.9),
    MonteCarlo(gamma=0.9, baseline="value", whiten=True),
    Pairs(),
    ReinforcePlusPlus(),
    RunningBaseline(),
    Td0(gamma=0.9),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)

REWARDS = ([0.0, -0.1, 0.0, 1.0], [-0.3, 0.0], [0.0])
VALUES = ([0.3, 0.1, 0.4, 0.2], [0.5, 0.6], [0.9])


def credit(
    estimator: Advantage, measured: Callable[..., Measured], layouts: tuple[str, ...], elsewhere: float = np.nan
) -> dict[int, tuple[list[float], list[float] | None]]:
    """Member → advantages and returns on policy tokens, in a group of rollouts laid out like this."""
    members = tuple(
        evolve(measured(layout, rewards=r, values=v, reason="length", bootstrap=0.7, elsewhere=elsewhere), member=m)
        for m, (layout, r, v) in enumerate(zip(layouts, REWARDS, VALUES, strict=True))
    )
    [credited] = estimator.credit([Group(id="1/0", task=members[0].task, members=members)])

    def written(mask: FloatArray, values: FloatArray | None) -> list[float] | None:
        return None if values is None else values[mask].tolist()

    return {m.member: (m.advantage[m.policy_mask].tolist(), written(m.policy_mask, m.returns)) for m in credited}


@every_estimator
def test_observations_are_not_time(estimator: Advantage, measured: Callable[..., Measured]) -> None:
    """Pitfalls 31 and 38: whatever observations stand between, before and after policy tokens, credit is as if they were not there."""
    plain = credit(estimator, measured, ("PAAAA", "PAA", "PA"))
    assert credit(estimator, measured, ("PAEEEEAEAEEAEE", "PPEAAE", "PEEEA")) == plain


@every_estimator
@pytest.mark.parametrize("elsewhere", [np.nan, np.inf, -np.inf, 1e30])
def test_what_the_policy_did_not_write_is_never_read(
    estimator: Advantage, measured: Callable[..., Measured], elsewhere: float
) -> None:
    """Rewards and values outside policy tokens may hold anything."""
    layouts = ("PAEAAEA", "PPAEA", "PEA")
    assert credit(estimator, measured, layouts, elsewhere) == credit(estimator, measured, layouts, -7.0)


@every_estimator
def test_nothing_to_credit(estimator: Advantage, measured: Callable[..., Measured]) -> None:
    """No groups, and groups in which the policy wrote nothing, pass through (or are left out) without a word of numpy."""
    assert estimator.credit([]) == []
    silent = tuple(
        evolve(measured("PE", rewards=[], values=[], reason="length", bootstrap=None), member=m)
        for m in range(estimator.smallest_group)
    )
    groups = estimator.credit([Group(id="1/0", task=silent[0].task, members=silent)])
    assert all(np.isnan(member.advantage).all() for group in groups for member in group)


@every_estimator
def test_groups_of_one(estimator: Advantage, measured: Callable[..., Measured]) -> None:
    """Those that compare members say so by ``smallest_group`` and, if given one all the same, credit 0 or nothing; the others need no group."""
    rollout = measured("PAEA", rewards=[0, 1], values=[0.25, 0.5])
    found = [
        a
        for g in estimator.credit([Group(id="1/0", task=rollout.task, members=(rollout,))])
        for m in g
        for a in m.advantage[[1, 3]]
    ]
    compares = estimator.smallest_group > 1
    assert compares == isinstance(estimator, GroupNorm | LeaveOneOut | Pairs)
    assert set(found) <= {0.0} if compares else np.isfinite(found).all()


@every_estimator
def test_nothing_is_written_into(estimator: Advantage, measured: Callable[..., Measured]) -> None:
    """Rewards and values stay what they were: the next estimator or report reads them too."""
    rollouts = tuple(evolve(measured("PAEA", rewards=[0, r], values=[0.25, 0.5]), member=m) for m, r in enumerate((0.0, 1.0)))
    estimator.credit([Group(id="1/0", task=rollouts[0].task, members=rollouts)])
    for rollout, reward in zip(rollouts, (0.0, 1.0), strict=True):
        assert rollout.value is not None
        assert rollout.token_reward[[1, 3]].tolist() == [0.0, reward]
        assert rollout.value[[1, 3]].tolist() == [0.25, 0.5]


@every_estimator
def test_who_sees_where_a_reward_lies(estimator: Advantage, measured: Callable[..., Measured]) -> None:
    """The same sum, earned by the first turn or by the second, as docs/design-space.md has it under "Rewards per turn"."""

    def first_member(rewards: list[float]) -> object:
        members = [
            evolve(measured("PAEA", rewards=r, values=[0.3, 0.1]), member=m)
            for m, r in enumerate((rewards, [0.5, 0.0], [0.0, 0.0]))
        ]
        [credited] = estimator.credit([Group(id="1/0", task=members[0].task, members=tuple(members))])
        return next(rollout.advantage[[1, 3]].tolist() for rollout in credited if rollout.member == 0)

    sees_only_sums = isinstance(estimator, (Constant, GroupNorm, LeaveOneOut, Pairs, RunningBaseline))
    assert (first_member([1.0, 0.0]) == first_member([0.0, 1.0])) is sees_only_sums
    assert (first_member([1.0, 0.0]) == first_member([-1.0, 0.0])) is isinstance(estimator, Constant)
