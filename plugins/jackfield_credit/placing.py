"""Between arrays of one rollout [L] and the tokens its policy wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from jackfield.types import Credited, FloatArray, Group, Measured, Rollout


def on_policy_tokens(rollout: Rollout, values: FloatArray | float) -> FloatArray:
    """[L] float64: ``values`` (one a policy token, or the same for all) where the policy wrote, NaN elsewhere."""
    placed: npt.NDArray[np.float64] = np.full(len(rollout.tokens), np.nan)
    placed[rollout.policy_mask] = values
    return placed


def credit_each(groups: Sequence[Group[Measured]], credited: Callable[[Measured], Credited]) -> list[Group[Credited]]:
    """The same groups with every member credited, in order."""
    return [Group(id=group.id, task=group.task, members=tuple(map(credited, group))) for group in groups]
