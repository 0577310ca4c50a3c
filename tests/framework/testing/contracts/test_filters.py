"""The check of filters finds the fault it is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from attrs import evolve

from jackfield.testing.contracts import check_filter
from jackfield.types import Group, Scored, Task

Groups = Sequence[Group[Scored]]


class Keep:
    """A filter made of a function."""

    def __init__(self, keep: Callable[[Groups], Any]) -> None:
        self.function = keep

    def keep(self, groups: Groups) -> Any:
        return self.function(groups)


class Once:
    """Keeps everything, once."""

    called = False

    def keep(self, groups: Groups) -> list[Group[Scored]]:
        self.called, before = True, self.called
        return [] if before else list(groups)


class Rising:
    """Keeps groups whose best reward beats the mean of the step before; ``told`` is what it writes down."""

    def __init__(self, told: bool) -> None:
        self.mean = -9.0
        self.told = told

    def keep(self, groups: Groups) -> list[Group[Scored]]:
        return [g for g in groups if max(r.reward or 0.0 for r in g) > self.mean]

    def after_step(self, metrics: Mapping[str, float]) -> None:
        self.mean = metrics["reward/mean"]

    def state(self) -> dict[str, float]:
        return {"mean": self.mean} if self.told else {}

    def restore(self, state: Mapping[str, float]) -> None:
        self.mean = state.get("mean", self.mean)


def members(keep: Callable[[Scored], bool]) -> Callable[[Groups], list[Group[Scored]]]:
    def kept(groups: Groups) -> list[Group[Scored]]:
        left = [evolve(g, members=tuple(r for r in g if keep(r))) for g in groups]
        return [g for g in left if len(g)]

    return kept


@pytest.mark.parametrize(
    "keep", [list, members(lambda r: r.member > 0), lambda groups: [], lambda groups: [g for g in groups if len(g) > 2]]
)
def test_good_filters_pass(keep: Callable[[Groups], Any]) -> None:
    """Everything, nothing, some groups or some members: all are sound."""
    check_filter(Keep(keep))


@pytest.mark.parametrize(
    ("part", "found"),
    [
        (Keep(lambda gs: gs[::-1]), "another order"),
        (Keep(lambda gs: sorted(gs, key=len)), "another order"),
        (Keep(lambda gs: [gs[0], gs[0]]), "given twice"),
        (Keep(lambda gs: [evolve(gs[0], id="new")]), "groups were added"),
        (Keep(lambda gs: [evolve(gs[0], task=Task(id="other", prompt=()))]), "another task"),
        (Keep(lambda gs: [evolve(gs[0], members=())]), "is empty"),
        (Keep(lambda gs: [evolve(gs[0], members=gs[0].members[::-1])]), "members of group 0/0 were put in another order"),
        (Keep(lambda gs: [evolve(gs[0], members=gs[0].members[:1] * 2)]), "another order"),
        (Keep(lambda gs: [evolve(gs[0], members=tuple(evolve(r, reward=1.0) for r in gs[0]))]), "changed or added"),
        (Keep(lambda gs: [evolve(gs[0], members=gs[1].members)]), "changed or added"),
        (Keep(members(lambda r: len(r.tokens) < 20)), "masked positions"),
        (Keep(members(lambda r: r.segments[0].text.startswith("7"))), "masked positions"),
        (Keep(lambda gs: gs[:2]), "the order of groups and members"),
        (Keep(lambda gs: [evolve(g, members=g.members[:1]) for g in gs]), "the order of groups and members"),
        (Once(), "earlier calls"),
        (Rising(told=False), r"state\(\) does not hold"),
    ],
)
def test_bad_filters_are_found(part: Any, found: str) -> None:
    """Another order, a choice by place, anything new or changed, empty groups, what the policy did not write, and memory that is not
    written down."""
    with pytest.raises(AssertionError, match=found):
        check_filter(part)


def test_what_is_learnt_from_step_to_step() -> None:
    """A threshold that follows the steps is sound if a checkpoint holds it."""
    check_filter(Rising(told=True))
