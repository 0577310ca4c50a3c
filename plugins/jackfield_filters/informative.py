"""Dynamic sampling."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import define, field

from jackfield.component import at_least, fraction, option
from jackfield.types import Group, Scored
from jackfield_filters.rewards import reward_of, without_rewards

if TYPE_CHECKING:
    from jackfield.corridor import Corridor

log = logging.getLogger(__name__)


@define(kw_only=True, eq=False)
class Informative:
    """Only groups whose members differ in reward stay (dynamic sampling; DAPO, Yu et al. 2025, arXiv 2503.14476, section 3.2).

    Compared with their own group, the others say nothing: every advantage is 0, and they only dilute the mean. The recipe's
    ``refill_rounds`` bounds how often the step plays further tasks in their place; at 0 they are just left out. A group of one, or
    one that filters before this one left with a single member, cannot differ and is left out.

    Where too many groups of a step are all failure or all success, a warning says so once, after the step: the tasks are too hard
    or too easy, and most of what is generated is thrown away.
    """

    margin: float = option(1e-6, help="the best and the worst reward of a group differ by more than this", check=at_least(0))
    failure: float = option(0.0, help="a group without any reward above this was too hard (for the warning only)")
    success: float = option(1.0, help="a group without any reward below this was too easy (for the warning only)")
    warn_above: float = option(
        0.5, help="share of a step's groups, too hard or too easy, above which there is a warning; 1: never", check=fraction
    )

    _seen: int = field(default=0, init=False)
    _too_hard: int = field(default=0, init=False)
    _too_easy: int = field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        if self.failure >= self.success:
            raise ValueError(f"failure: must be below success, found {self.failure} and {self.success}")

    def check_recipe(self, corridor: Corridor) -> list[str]:
        """It needs rewards, and groups in which they can differ."""
        if corridor.run.group_size > 1:
            return without_rewards(corridor)
        return [*without_rewards(corridor), "compares the members of a group, and group_size is 1; write group_size = 2 or above"]

    def keep(self, groups: Sequence[Group[Scored]]) -> list[Group[Scored]]:
        """The groups whose best and worst reward differ, whole."""
        kept = []
        for group in groups:
            rewards = [reward_of(rollout) for rollout in group]
            worst, best = min(rewards), max(rewards)
            self._seen += 1
            self._too_hard += best <= self.failure
            self._too_easy += worst >= self.success
            if best - worst > self.margin:
                kept.append(group)
        return kept

    def after_step(self, metrics: Mapping[str, float]) -> None:  # noqa: ARG002
        """Say once what all of the step's rounds found."""
        most = self.warn_above * self._seen
        if self._too_hard > most:
            log.warning(
                "informative: in %d of the step's %d groups no reward is above %g: these tasks are too hard to learn from; use easier "
                "ones, a larger group_size, or a reward for partial success",
                self._too_hard, self._seen, self.failure,
            )  # fmt: skip
        elif self._too_easy > most:
            log.warning(
                "informative: in %d of the step's %d groups no reward is below %g: there is nothing left to learn from these tasks; use "
                "harder ones",
                self._too_easy, self._seen, self.success,
            )  # fmt: skip
        self._seen = self._too_hard = self._too_easy = 0

    def state(self) -> dict[str, float]:
        """Nothing is kept from step to step."""
        return {}

    def restore(self, state: Mapping[str, float]) -> None:
        """Nothing was kept."""
