"""Best against worst of a group."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve

from jackfield.types import Group, Measured
from jackfield_credit.pairs import Pairs

Make = Callable[..., Measured]
MakeGroup = Callable[..., Group[Measured]]


@pytest.fixture
def graded(measured: Make, group: MakeGroup) -> Callable[..., Group[Measured]]:
    """A group with these total rewards, members numbered."""
    return lambda *rewards: group(*(evolve(measured("PAEA", rewards=[0, r]), member=i) for i, r in enumerate(rewards)))


def test_best_and_worst(graded: MakeGroup) -> None:
    """Chosen then rejected, +1 and −1 on every policy token; the others leave."""
    [pair] = Pairs().credit([graded(0.2, -1.0, 0.9, 0.5)])
    assert [m.member for m in pair] == [2, 1]
    assert pair.members[0].advantage.tolist() == pytest.approx([np.nan, 1, np.nan, 1], nan_ok=True)
    assert pair.members[1].advantage.tolist() == pytest.approx([np.nan, -1, np.nan, -1], nan_ok=True)
    assert [m.returns for m in pair] == [None, None]
    assert pair.id == "1/0"


def test_of_equals_the_lowest_index(graded: MakeGroup) -> None:
    """Whatever order the members come in."""
    rewarded = graded(0.0, 1.0, 1.0, 0.0)
    for members in (rewarded.members, rewarded.members[::-1]):
        [pair] = Pairs().credit([evolve(rewarded, members=members)])
        assert [m.member for m in pair] == [1, 0]


def test_groups_without_a_preference_are_left_out(graded: MakeGroup) -> None:
    """Equal rewards, rewards that differ by rounding (0.1 + 0.2 and 0.3), groups of one; the order of the rest stays."""
    groups = [
        graded(1, 1),
        evolve(graded(0, 1), id="first"),
        graded(0.1 + 0.2, 0.3),
        graded(5),
        evolve(graded(2, 1, 0), id="second"),
    ]
    assert [(g.id, [m.member for m in g]) for g in Pairs().credit(groups)] == [("first", [1, 0]), ("second", [0, 2])]
    assert Pairs().credit(groups[:1]) == []


def test_margin(graded: MakeGroup) -> None:
    """Differences up to the margin are no preference; 0 takes every difference there is."""
    assert Pairs(margin=0.5).credit([graded(0.0, 0.5)]) == []
    assert len(Pairs(margin=0.49).credit([graded(0.0, 0.5)])) == 1
    assert len(Pairs(margin=0).credit([graded(0.1 + 0.2, 0.3)])) == 1
    with pytest.raises(ValueError, match="margin: must be at least 0"):
        Pairs(margin=-1)


def test_silent_members_never_form_a_pair(measured: Make, group: MakeGroup) -> None:
    """A rollout in which the policy wrote nothing has no likelihood to raise or lower, be it the best or the worst."""
    silent = [evolve(measured("PE", rewards=[]), member=m, reward=r) for m, r in ((0, -9.0), (3, 9.0))]
    spoken = [evolve(measured("PA", rewards=[r]), member=m) for m, r in ((1, 0.0), (2, 1.0))]
    [pair] = Pairs().credit([group(silent[0], *spoken, silent[1])])
    assert [m.member for m in pair] == [2, 1]
    assert Pairs().credit([group(silent[0], spoken[0]), group(*silent)]) == []


def test_penalties_count(measured: Make, group: MakeGroup) -> None:
    """The total decides: 1 − 0.75 is worse than 0.5; what stands on other tokens does not count."""
    for elsewhere in (np.nan, -50.0):
        dear = measured("PAEA", rewards=[-0.75, 1.0], elsewhere=elsewhere)
        cheap = evolve(measured("PA", rewards=[0.5]), member=1)
        [pair] = Pairs().credit([group(dear, cheap)])
        assert [m.member for m in pair] == [1, 0]


def test_what_recipes_are_held_to() -> None:
    """It takes two to make a pair, and a reward to order them."""
    assert (Pairs.smallest_group, Pairs.uses_reward, Pairs.gives_returns) == (2, True, False)
