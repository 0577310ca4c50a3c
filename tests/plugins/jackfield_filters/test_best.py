"""Rejection sampling."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from attrs import evolve

from jackfield.types import Group, Scored
from jackfield_filters.best import Best

Judged = Callable[..., Group[Scored]]


def members(groups: list[Group[Scored]]) -> list[tuple[str, list[int]]]:
    return [(g.id, [r.member for r in g]) for g in groups]


def test_the_best_above_the_threshold(judged: Judged) -> None:
    """The two best of each group, in the order of the group, the very same rollouts; what is not above 0 is never taken."""
    groups = [judged("1/0", 0.2, 0.9, 0.1, 0.5), judged("1/1", 0.0, 1.0, -1.0), judged("1/2", 0.0, 0.0)]
    kept = Best(count=2).keep(groups)
    assert members(kept) == [("1/0", [1, 3]), ("1/1", [1])]
    assert [id(r) for r in kept[0]] == [id(groups[0].members[1]), id(groups[0].members[3])]


def test_of_equals_the_lowest_index(judged: Judged) -> None:
    """Whatever order the members come in; their order stays what it was."""
    group = judged("1/0", 1.0, 0.5, 1.0, 1.0)
    backwards = evolve(group, members=group.members[::-1])
    assert members(Best(count=2).keep([group])) == [("1/0", [0, 2])]
    assert members(Best(count=2).keep([backwards])) == [("1/0", [2, 0])]


def test_the_threshold_itself_is_not_enough(judged: Judged) -> None:
    """Above means above; below every reward all may stay."""
    group = judged("1/0", 0.5, 0.25)
    assert Best(above=0.5).keep([group]) == []
    assert members(Best(above=0.25).keep([group])) == [("1/0", [0])]
    assert members(Best(count=9, above=-1.0).keep([group])) == [("1/0", [0, 1])]


def test_equal_rewards_and_groups_of_one(judged: Judged) -> None:
    """A group needs no spread to have a best: all right is as good as one right."""
    assert members(Best().keep([judged("1/0", 1.0, 1.0, 1.0), judged("1/1", 1.0), judged("1/2", 0.0)])) == [
        ("1/0", [0]),
        ("1/1", [0]),
    ]


def test_what_says_nothing_is_not_imitated(judged: Judged) -> None:
    """A member in which the policy wrote nothing takes nobody's place."""
    assert members(Best().keep([judged("1/0", 1.0, 0.5, lengths=(0, 3)), judged("1/1", 1.0, lengths=(0,))])) == [("1/0", [1])]


def test_it_must_keep_something() -> None:
    """Zero members of each group would be no step at all."""
    with pytest.raises(ValueError, match="count: must be at least 1"):
        Best(count=0)


@pytest.mark.parametrize(("rewards", "group_size", "found"), [(1, 1, []), (0, 4, ["chooses"])])
def test_what_a_recipe_must_have(rewards: int, group_size: int, found: list[str]) -> None:
    """Without rewards every group would be left out in silence."""
    corridor = SimpleNamespace(
        rewards=(object(),) * rewards, run=SimpleNamespace(group_size=group_size), advantage=SimpleNamespace(smallest_group=1)
    )
    problems = Best().check_recipe(corridor)  # type: ignore[arg-type]
    assert [problem.split()[0] for problem in problems] == found


def test_it_leaves_as_many_as_are_compared() -> None:
    """With fewer, every group would be left out, every step skipped, in silence (case A12)."""
    corridor = SimpleNamespace(rewards=(object(),), run=SimpleNamespace(group_size=8), advantage=SimpleNamespace(smallest_group=2))
    assert Best(count=2).check_recipe(corridor) == []  # type: ignore[arg-type]
    [problem] = Best().check_recipe(corridor)  # type: ignore[arg-type]
    assert problem == "leaves 1 of a group, and the advantage needs groups of 2 or more; write count = 2 or above"
