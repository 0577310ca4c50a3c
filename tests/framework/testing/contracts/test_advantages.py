"""The check of advantage estimators finds the fault it is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from jackfield.testing.contracts import check_advantage
from jackfield.types import Credited, Group, Measured, promote


class Estimate:
    """An estimator made of a function from a group to one array a member; ``returns`` beside it."""

    uses_reward: bool = True

    def __init__(
        self,
        estimate: Callable[[Group[Measured]], list[Any]],
        *,
        returns: Callable[[Measured], Any] | None = None,
        smallest: int = 1,
        needs: frozenset[str] = frozenset({"value"}),
    ) -> None:
        self.estimate = estimate
        self.returns = returns
        self.gives_returns = returns is not None
        self.smallest_group = smallest
        self.needs = needs

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        return [evolve(group, members=tuple(self.members(group))) for group in groups]  # type: ignore[arg-type, misc]

    def members(self, group: Group[Measured]) -> list[Credited]:
        given = [None if self.returns is None else self.returns(r) for r in group]
        return [promote(Credited, r, advantage=a, returns=g) for r, a, g in zip(group, self.estimate(group), given, strict=True)]


class Changed(Estimate):
    """A centred reward, and something done to the groups."""

    def __init__(self, change: Callable[[list[Group[Credited]]], list[Group[Credited]]]) -> None:
        super().__init__(centred)
        self.change = change

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        return self.change(super().credit(groups)) if groups else []


def rewards(group: Group[Measured]) -> Any:
    return np.array([r.reward for r in group], np.float64)


def spread(group: Group[Measured], numbers: Any) -> list[Any]:
    return [np.full(len(r.tokens), number) for r, number in zip(group, numbers, strict=True)]


def centred(group: Group[Measured]) -> list[Any]:
    return spread(group, rewards(group) - rewards(group).mean())


def standardised(group: Group[Measured]) -> list[Any]:
    centre, scale = rewards(group).mean(), rewards(group).std() + 1e-30
    return spread(group, (rewards(group) - centre) / scale)


def of_the_sample(group: Group[Measured]) -> list[Any]:
    return spread(group, (rewards(group) - rewards(group).mean()) / rewards(group).std(ddof=1))


def first_is_best(group: Group[Measured]) -> list[Any]:
    return spread(group, rewards(group) - rewards(group)[0])


def best_by_number(group: Group[Measured]) -> list[Any]:
    best = max(group, key=lambda r: r.reward or 0.0).member
    return spread(group, [float(group.members[best] is r) for r in group])


def values_anywhere(group: Group[Measured]) -> list[Any]:
    return spread(group, [np.nansum(r.value) for r in group])  # type: ignore[arg-type]


def by_length(group: Group[Measured]) -> list[Any]:
    return [np.cumsum(r.token_reward[::-1])[::-1] for r in group]


def in_place(group: Group[Measured]) -> list[Any]:
    for rollout in group:
        rollout.token_reward[:] = rollout.token_reward - rollout.token_reward.mean()
    return centred(group)


def drawn(group: Group[Measured]) -> list[Any]:
    return [np.random.default_rng().normal(size=len(r.tokens)) for r in group]


def own_value(rollout: Measured) -> Any:
    assert rollout.value is not None
    return rollout.value + 1


def test_good_advantages_pass() -> None:
    """A centred reward, with a critic's targets or for groups of two at least; leaving out what has nothing to say."""
    check_advantage(Estimate(centred))
    check_advantage(Estimate(centred, returns=own_value))
    check_advantage(Estimate(centred, smallest=2, needs=frozenset()))
    check_advantage(Changed(lambda groups: groups[1:3]))
    check_advantage(Changed(lambda groups: [evolve(g, members=tuple(r for r in g if r.num_policy_tokens)) for g in groups]))


@pytest.mark.parametrize(
    ("advantage", "found"),
    [
        (Estimate(lambda g: [r.token_reward[1:] for r in g]), "shape"),
        (Estimate(lambda g: [r.token_reward / 0 for r in g]), "not finite"),
        (Estimate(of_the_sample), "not finite"),
        (Estimate(by_length), "not finite"),
        (Estimate(first_is_best), "order of groups and members"),
        (Estimate(values_anywhere), "masked positions"),
        (Estimate(in_place), "wrote into token_reward"),
        (Estimate(drawn), "earlier calls"),
        (Estimate(standardised, smallest=2, needs=frozenset()), "all attempts are alike"),
        (Estimate(centred, returns=lambda r: None), "there are none"),
        (Estimate(centred, returns=lambda r: np.full(len(r.tokens), np.nan)), "returns is not finite"),
        (
            Estimate(centred, returns=lambda r: np.full(len(r.tokens), len(r.tokens) + np.nansum(r.value))),
            "returns depends on masked",
        ),
        (Changed(lambda groups: groups[::-1]), "another order"),
        (Changed(lambda groups: [*groups, groups[0]]), "given twice"),
        (Changed(lambda groups: [evolve(groups[0], id="new")]), "groups were added"),
        (Changed(lambda groups: [evolve(groups[0], members=groups[0].members * 2)]), "given twice"),
        (Changed(lambda groups: [evolve(groups[0], members=tuple(evolve(r, member=9) for r in groups[0]))]), "given twice"),
        (Changed(lambda groups: [evolve(groups[0], members=(evolve(groups[0].members[0], member=9),))]), "was added"),
        (Changed(lambda groups: [evolve(groups[0], members=groups[1].members)]), "another rollout"),
        (Changed(lambda groups: groups[:2]), "order of groups and members"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value", "ignore:Degrees of freedom")
def test_bad_advantages_are_found(advantage: Estimate, found: str) -> None:
    """Wrong shapes, infinite values, groups of one, the environment's tail, order, masked positions, the input written into, chance,
    equal rewards blown up, returns that are not, and groups and members added, doubled or put elsewhere."""
    with pytest.raises(AssertionError, match=found):
        check_advantage(advantage)


def test_members_are_not_places() -> None:
    """A member may have left the step before: its number is no index."""
    with pytest.raises((AssertionError, IndexError)):
        check_advantage(Estimate(best_by_number))


class Baseline(Estimate):
    """An estimator that learns from step to step; ``forgets`` breaks its ``restore``, ``silent`` its ``state``."""

    def __init__(self, *, forgets: bool = False, moves_at_once: bool = False, silent: bool = False) -> None:
        super().__init__(self.against_mean)
        self.mean = 0.0
        self.forgets = forgets
        self.moves_at_once = moves_at_once
        self.silent = silent

    def against_mean(self, group: Group[Measured]) -> list[Any]:
        given = spread(group, rewards(group) - self.mean)
        self.mean += self.moves_at_once * 1.0
        return given

    def after_step(self, metrics: Mapping[str, float]) -> None:
        self.mean = metrics["reward/mean"]

    def state(self) -> dict[str, float]:
        return {} if self.silent else {"mean": self.mean}

    def restore(self, state: Mapping[str, float]) -> None:
        self.mean = 7.0 if self.forgets else state.get("mean", self.mean)


def test_what_is_learnt_from_step_to_step() -> None:
    """A baseline that moves after the step is sound; one that moves while crediting, or is not written down or taken back, is named."""
    check_advantage(Baseline())
    with pytest.raises(AssertionError, match="earlier calls"):
        check_advantage(Baseline(moves_at_once=True))
    with pytest.raises(AssertionError, match=r"restore\(\) of"):
        check_advantage(Baseline(forgets=True))
    with pytest.raises(AssertionError, match=r"state\(\) does not hold"):
        check_advantage(Baseline(silent=True))


def test_after_step_needs_state() -> None:
    """What it learnt would be lost."""
    estimate = Estimate(centred)
    estimate.after_step = lambda metrics: None  # type: ignore[attr-defined]
    with pytest.raises(AssertionError, match="would forget"):
        check_advantage(estimate)
