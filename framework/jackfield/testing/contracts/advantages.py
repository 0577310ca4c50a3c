"""What an advantage estimator promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from attrs import evolve

from jackfield.stages import Advantage
from jackfield.testing.contracts.declared import declared_needs, resumed
from jackfield.testing.material import MEASURED, alike, measured_groups, unlike
from jackfield.types import Credited, FloatArray, Group, Measured

M = TypeVar("M", bound=Measured)
Key = tuple[str, int]


def check_advantage(advantage: Advantage) -> None:
    """Credits every policy token with something finite that depends neither on order nor on what stands at other positions; where
    it promises returns, these too.

    It may leave out members and whole groups, but adds none and keeps the order of groups. One that only compares members of a group
    (``smallest_group`` above 1, no critic) finds nothing in attempts that are all alike. What it learns from step to step (see
    ``stages``) moves in ``after_step`` only, and ``restore`` takes back what ``state`` gave.
    """
    needs = declared_needs(advantage, MEASURED)
    smallest = advantage.smallest_group
    assert smallest >= 1, f"smallest_group is {smallest}"
    assert isinstance(advantage.uses_reward, bool), f"uses_reward is {advantage.uses_reward!r}"
    groups = measured_groups(smallest, needs, elsewhere=np.nan)
    credited = advantage.credit(groups)
    order = [group.id for group in credited]
    assert order == [i.id for i in groups if i.id in order], f"groups were added, put in another order, or given twice: {order}"
    expected = _by_member(credited)
    given = _by_member(groups)
    for key, rollout in expected.items():
        assert key in given, f"{_called(key)} was added"
        assert rollout.segments == given[key].segments, f"{_called(key)} is another rollout"
        _check_numbers(key, rollout, "advantage", rollout.advantage)
        if advantage.gives_returns:
            _check_numbers(key, rollout, "returns", rollout.returns)
    for key, fresh in _by_member(measured_groups(smallest, needs, elsewhere=np.nan)).items():
        changed = unlike(given[key], fresh)
        assert not changed, f"{_called(key)}: it wrote into {changed[0]} of its input"
    _same(expected, advantage.credit(groups), "earlier calls (does it keep state?)")
    _same(expected, advantage.credit(measured_groups(smallest, needs, elsewhere=1e9)), "masked positions")
    shuffled = [evolve(group, members=group.members[::-1]) for group in reversed(groups)]
    _same(expected, advantage.credit(shuffled), "the order of groups and members")
    assert advantage.credit([]) == [], "of no groups it made some"
    if smallest > 1 and "value" not in needs:
        _check_nothing_to_compare(advantage, alike(max(3, smallest), needs))
    learnt, restored = resumed(advantage)
    _same(_by_member(learnt.credit(groups)), restored.credit(groups), "what state() does not hold")


def _check_numbers(key: Key, rollout: Credited, name: str, values: FloatArray | None) -> None:
    assert values is not None, f"{_called(key)}: gives_returns is promised, and there are none"
    assert values.shape == rollout.tokens.shape, f"{_called(key)}: {name} has the shape {values.shape}"
    assert np.isfinite(values[rollout.policy_mask]).all(), f"{_called(key)}: {name} is not finite where the policy wrote"


def _check_nothing_to_compare(advantage: Advantage, group: Group[Measured]) -> None:
    for key, rollout in _by_member(advantage.credit([group])).items():
        found = rollout.advantage[rollout.policy_mask]
        assert np.allclose(found, 0, atol=1e-6), f"{_called(key)}: all attempts are alike, yet the advantage is {found[0]}, not 0"


def _by_member(groups: Sequence[Group[M]]) -> dict[Key, M]:
    found = {(group.id, rollout.member): rollout for group in groups for rollout in group}
    assert len(found) == sum(map(len, groups)), "a member was given twice"
    return found


def _same(expected: Mapping[Key, Credited], groups: Sequence[Group[Credited]], what: str) -> None:
    found = _by_member(groups)
    assert found.keys() == expected.keys(), (
        f"which members are credited depends on {what}: {sorted(found.keys() ^ expected.keys())}"
    )
    for key, rollout in expected.items():
        for name in ("advantage", "returns"):
            one, other = getattr(rollout, name), getattr(found[key], name)
            if one is not None:
                written = rollout.policy_mask
                close = np.allclose(other[written], one[written], rtol=1e-5, atol=1e-6)
                assert close, f"{_called(key)}: {name} depends on {what}"


def _called(key: Key) -> str:
    return f"member {key[1]} of group {key[0]}"
