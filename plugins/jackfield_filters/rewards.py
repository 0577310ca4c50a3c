"""The reward a filter looks at: the weighted sum of the sources' scores, before penalties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jackfield.types import Scored

if TYPE_CHECKING:
    from jackfield.corridor import Corridor


def reward_of(rollout: Scored) -> float:
    """Raises ValueError for a rollout without one, which no filter is ever given."""
    if rollout.reward is None:
        raise ValueError(f"rollout {rollout.task.id}/{rollout.member} has no reward")
    return rollout.reward


def without_rewards(corridor: Corridor) -> list[str]:
    """What is wrong with a recipe that chooses by reward and names none: every reward would be 0."""
    return [] if corridor.rewards else ["chooses by reward, and the recipe names none; add [[rewards]] with `use = …`"]
