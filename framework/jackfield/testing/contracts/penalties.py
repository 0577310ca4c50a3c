"""What a penalty promises."""

from __future__ import annotations

import numpy as np

from jackfield.stages import Penalty
from jackfield.testing.contracts.declared import declared_needs, resumed
from jackfield.testing.material import MEASURED, measured_groups, unlike
from jackfield.types import FloatArray, Measured


def check_penalty(penalty: Penalty) -> None:
    """Gives every policy token of a rollout a finite number, which depends on nothing that stands elsewhere, nor on earlier calls."""
    needs = declared_needs(penalty, MEASURED)

    def rollouts(elsewhere: float) -> list[Measured]:
        return [rollout for group in measured_groups(1, needs, elsewhere=elsewhere) for rollout in group]

    given = rollouts(np.nan)
    expected = [penalty.penalty(rollout) for rollout in given]
    for rollout, found in zip(given, expected, strict=True):
        shape = getattr(found, "shape", None)
        assert shape == rollout.tokens.shape, f"a penalty of {len(rollout.tokens)} tokens has the shape {shape}"
        assert np.isfinite(found[rollout.policy_mask]).all(), "a penalty is not finite where the policy wrote"
    changed = [name for rollout, fresh in zip(given, rollouts(np.nan), strict=True) for name in unlike(rollout, fresh)]
    assert not changed, f"it wrote into its input: {changed[0]}"
    _same(given, expected, [penalty.penalty(rollout) for rollout in reversed(given)][::-1], "earlier calls")
    _same(given, expected, [penalty.penalty(rollout) for rollout in rollouts(1e9)], "masked positions")
    learnt, restored = resumed(penalty)
    _same(given, [learnt.penalty(r) for r in given], [restored.penalty(r) for r in given], "what state() does not hold")


def _same(rollouts: list[Measured], expected: list[FloatArray], found: list[FloatArray], what: str) -> None:
    for rollout, one, other in zip(rollouts, expected, found, strict=True):
        written = rollout.policy_mask
        assert np.allclose(one[written], other[written], rtol=1e-5, atol=1e-6), f"a penalty depends on {what}"
