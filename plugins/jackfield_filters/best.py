"""Rejection sampling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from jackfield.component import at_least, option
from jackfield.types import Group, Scored
from jackfield_filters.rewards import reward_of, without_rewards

if TYPE_CHECKING:
    from jackfield.corridor import Corridor


@frozen(kw_only=True)
class Best:
    """Only the members of a group with the highest rewards stay, and only if these are above a threshold: rejection sampling.

    With the policy's own samples (engine ``torch``), the advantage ``constant`` and the loss ``cross_entropy`` this is fine-tuning on
    the best of n (Touvron et al. 2023, arXiv 2307.09288, section 3.2.3; with a rule as judge: STaR, Zelikman et al. 2022, arXiv
    2203.14465).

    Of equal rewards the lower ``member`` index stays. A group without any reward above the threshold leaves whole. Members in which
    the policy wrote nothing cannot be learnt from and are not chosen. Truncated ones can be: put ``drop_truncated`` before this
    filter if unfinished text is not to be imitated.
    """

    count: int = option(1, help="members to keep of each group", check=at_least(1))
    above: float = option(0.0, help="only members with a reward above this")

    def check_recipe(self, corridor: Corridor) -> list[str]:
        """It needs rewards, and must leave as many members as the advantage compares."""
        needed = corridor.advantage.smallest_group
        if self.count >= needed:
            return without_rewards(corridor)
        told = (
            f"leaves {self.count} of a group, and the advantage needs groups of {needed} or more; write count = {needed} or above"
        )
        return [*without_rewards(corridor), told]

    def keep(self, groups: Sequence[Group[Scored]]) -> list[Group[Scored]]:
        """The groups with their best members, in the order in which these came."""
        chosen = [evolve(group, members=tuple(self._best(group))) for group in groups]
        return [group for group in chosen if len(group)]

    def _best(self, group: Group[Scored]) -> Iterator[Scored]:
        good = [rollout for rollout in group if rollout.num_policy_tokens and reward_of(rollout) > self.above]
        ranked = sorted(good, key=lambda rollout: (-reward_of(rollout), rollout.member))
        best = {rollout.member for rollout in ranked[: self.count]}
        return (rollout for rollout in good if rollout.member in best)
