"""Between arrays of a rollout and the tokens its policy wrote."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from jackfield.types import Group, Measured
from jackfield_credit.placing import credited, total_reward

Make = Callable[..., Measured]
MakeGroup = Callable[..., Group[Measured]]


def test_penalties_count_and_other_tokens_do_not(measured: Make) -> None:
    """The total is the sum over policy tokens: 1 − 0.25 − 0.25; NaN or junk elsewhere is not read."""
    for elsewhere in (np.nan, 5.0):
        assert total_reward(measured("PAEA", rewards=[-0.25, 0.75], elsewhere=elsewhere)) == 0.5


def test_every_rollout_gets_its_own(measured: Make, group: MakeGroup) -> None:
    """Numbers and rows land on the rollout whose turn it is, across groups, and nowhere but on policy tokens."""
    groups = [group(measured("PAEA", rewards=[0, 0]), measured("PE", rewards=[])), group(measured("PAAE", rewards=[0, 0]))]
    first, second = credited(groups, [np.array([1.0, 2.0]), 5.0, 7.0], [np.array([3.0, 4.0]), np.zeros(0), np.array([8.0, 9.0])])
    assert first.members[0].advantage.tolist() == pytest.approx([np.nan, 1, np.nan, 2], nan_ok=True)
    assert first.members[1].advantage.tolist() == pytest.approx([np.nan, np.nan], nan_ok=True)
    assert second.members[0].advantage.tolist() == pytest.approx([np.nan, 7, 7, np.nan], nan_ok=True)
    assert second.members[0].returns is not None
    assert second.members[0].returns.tolist() == pytest.approx([np.nan, 8, 9, np.nan], nan_ok=True)
    assert [m.returns for m in credited(groups[1:], [1.0])[0]] == [None]


def test_one_entry_a_rollout(measured: Make, group: MakeGroup) -> None:
    """Fewer or more advantages than rollouts is a mistake that shows."""
    with pytest.raises(ValueError, match="zip"):
        credited([group(measured("PA", rewards=[0]), measured("PA", rewards=[0]))], [1.0])
