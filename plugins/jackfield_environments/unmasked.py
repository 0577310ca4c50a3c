"""The ablation of the retrieved-token mask. Not for use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, frozen

from jackfield.rollout import Episode
from jackfield.types import Rollout, Segment
from jackfield_environments.tagged_tools import TaggedTools

if TYPE_CHECKING:
    from jackfield.corridor import Corridor


@frozen(kw_only=True)
class TaggedToolsUnmasked(TaggedTools):
    """WRONG PRACTICE, only to measure what the mask is worth: ``tagged_tools``, trained on what the environment wrote.

    Everything is played as by ``tagged_tools``; afterwards observations and corrections are declared to be the policy's. They then
    carry advantages, loss, KL and entropy although the policy never chose them: it is pushed to recite or to avoid retrieved
    passages, and the importance ratio of these tokens means nothing. (Search-R1, table 4: average EM .431 with the mask, .343
    without.) Never train with it for any other purpose. The declared segments keep their ids and lose their text, so that verifiers
    read what the policy really wrote and the mask is all that differs.
    """

    def check_recipe(self, corridor: Corridor) -> list[str]:
        """A budget of sampled tokens would count what was not sampled."""
        told = "counts observations as written by the policy, so a token_budget would end it early; use steps"
        return [told] if corridor.run.token_budget else []

    async def play(self, episode: Episode) -> Rollout:
        rollout = await super().play(episode)
        return evolve(rollout, segments=tuple(map(_claimed_by_policy, rollout.segments)))


def _claimed_by_policy(segment: Segment) -> Segment:
    return evolve(segment, writer="policy", text="") if segment.writer == "environment" else segment
