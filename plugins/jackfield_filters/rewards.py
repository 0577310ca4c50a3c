"""The reward a filter looks at: the weighted sum of the sources' scores, before penalties."""

from __future__ import annotations

from jackfield.types import Scored


def reward_of(rollout: Scored) -> float:
    """Raises ValueError for a rollout without one, which no filter is ever given."""
    if rollout.reward is None:
        raise ValueError(f"rollout {rollout.task.id}/{rollout.member} has no reward")
    return rollout.reward
