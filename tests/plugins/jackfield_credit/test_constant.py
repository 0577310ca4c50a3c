"""Advantage 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from jackfield.types import Group, Measured
from jackfield_credit.constant import Constant


def test_constant(measured: Callable[..., Measured], group: Callable[..., Group[Measured]]) -> None:
    """Advantage 1 on every policy token and nothing elsewhere, whatever the reward."""
    [credited] = Constant().credit([group(measured("PAEA", rewards=[0, 0]), measured("PA", rewards=[-3]))])
    assert credited.members[0].advantage.tolist() == pytest.approx([np.nan, 1, np.nan, 1], nan_ok=True)
    assert credited.members[1].advantage.tolist() == pytest.approx([np.nan, 1], nan_ok=True)
    assert credited.members[0].returns is None


def test_what_recipes_are_held_to() -> None:
    """It needs neither a reward nor a group."""
    assert (Constant.smallest_group, Constant.uses_reward, Constant.gives_returns) == (1, False, False)
