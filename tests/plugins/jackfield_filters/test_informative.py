"""Dynamic sampling."""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from jackfield.types import Group, Scored
from jackfield_filters.informative import Informative

Judged = Callable[..., Group[Scored]]


def test_groups_that_differ_stay_whole(judged: Judged) -> None:
    """In their order, as they were; equal rewards of any height, rounding (0.1 + 0.2 and 0.3) and groups of one leave."""
    groups = [
        judged("1/0", 0.0, 0.0),
        judged("1/1", 0.0, 1.0, 0.0),
        judged("1/2", 0.1 + 0.2, 0.3),
        judged("1/3", 1.0),
        judged("1/4", -1.0, -0.9),
        judged("1/5", 1.0, 1.0),
    ]
    assert Informative().keep(groups) == [groups[1], groups[4]]


def test_margin(judged: Judged) -> None:
    """Differences up to the margin say nothing; 0 lets only the very same rewards go."""
    group = judged("1/0", 0.0, 0.5)
    assert Informative(margin=0.5).keep([group]) == []
    assert Informative(margin=0.49).keep([group]) == [group]
    assert len(Informative(margin=0).keep([judged("1/1", 0.1 + 0.2, 0.3), judged("1/2", 0.3, 0.3)])) == 1


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return found


@pytest.mark.parametrize(
    ("reward", "found"),
    [
        (0.0, "in 3 of the step's 4 groups no reward is above 0: these tasks are too hard"),
        (-2.0, "in 3 of the step's 4 groups no reward is above 0: these tasks are too hard"),
        (1.0, "in 3 of the step's 4 groups no reward is below 1: there is nothing left to learn"),
        (0.5, None),
    ],
)
def test_too_hard_and_too_easy(judged: Judged, caplog: pytest.LogCaptureFixture, reward: float, found: str | None) -> None:
    """Three of four groups that all fail, or all succeed, are told; that they agree on half a success is neither."""
    part = Informative()
    part.keep([judged("1/0", 0.0, 1.0), *(judged(f"1/{i}", reward, reward) for i in (1, 2, 3))])
    assert told(caplog) == []
    part.after_step({})
    messages = told(caplog)
    assert len(messages) == (found is not None)
    assert all(found is not None and found in message for message in messages)


def test_once_a_step_over_all_rounds(judged: Judged, caplog: pytest.LogCaptureFixture) -> None:
    """Refill rounds are counted together and told once; the next step starts from nothing."""
    part = Informative()
    part.keep([judged("1/0", 0.0, 0.0), judged("1/1", 0.0, 1.0)])
    part.keep([judged("1/2", 0.0, 0.0)])
    part.after_step({})
    assert [message[:47] for message in told(caplog)] == ["informative: in 2 of the step's 3 groups no rew"]
    part.keep([judged("2/0", 0.0, 1.0)])
    part.after_step({})
    part.after_step({})
    assert told(caplog) == []


def test_the_share_that_is_told(judged: Judged, caplog: pytest.LogCaptureFixture) -> None:
    """Half of the groups is not more than half; with 1 nothing is ever said; levels are the recipe's."""
    mixed = [judged("1/0", 0.0, 0.0), judged("1/1", 0.0, 1.0)]
    hopeless = [judged("1/0", 0.0, 0.0), judged("1/1", 0.1, 0.1)]
    for part, groups, messages in (
        (Informative(), mixed, 0),
        (Informative(warn_above=0.4), mixed, 1),
        (Informative(warn_above=1.0), hopeless, 0),
        (Informative(warn_above=0.9), hopeless, 0),
        (Informative(warn_above=0.9, failure=0.1), hopeless, 1),
    ):
        part.keep(groups)
        part.after_step({})
        assert len(told(caplog)) == messages


def test_it_warns(judged: Judged, caplog: pytest.LogCaptureFixture) -> None:
    """As a warning, of the logger named after the module."""
    part = Informative()
    part.keep([judged("1/0", 0.0)])
    part.after_step({})
    assert [(r.name, r.levelno) for r in caplog.records] == [("jackfield_filters.informative", logging.WARNING)]


def test_nothing_survives_a_step() -> None:
    """There is no state to keep in a checkpoint."""
    part = Informative()
    assert part.state() == {}
    part.restore({})


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ({"margin": -1.0}, "margin: must be at least 0"),
        ({"warn_above": 1.5}, "warn_above: must lie between 0 and 1"),
        ({"failure": 1.0}, "failure: must be below success"),
    ],
)
def test_keys_out_of_range(keys: dict[str, float], found: str) -> None:
    """Refused when the recipe is read."""
    with pytest.raises(ValueError, match=found):
        Informative(**keys)


def test_a_rollout_without_reward_is_no_failure(judged: Judged) -> None:
    """The core gives none; if somebody else does, it is not taken for 0."""
    with pytest.raises(ValueError, match="t/1 has no reward"):
        Informative().keep([judged("1/0", 0.0, None)])


@pytest.mark.parametrize(
    ("rewards", "group_size", "found"), [(1, 2, []), (0, 2, ["chooses"]), (1, 1, ["compares"]), (0, 1, ["chooses", "compares"])]
)
def test_what_a_recipe_must_have(rewards: int, group_size: int, found: list[str]) -> None:
    """Without rewards, or with groups of one, every group would be left out in silence (A12): both are recipe errors."""
    corridor = SimpleNamespace(rewards=(object(),) * rewards, run=SimpleNamespace(group_size=group_size))
    problems = Informative().check_recipe(corridor)  # type: ignore[arg-type]
    assert [problem.split()[0] for problem in problems] == found
