"""What any component may declare: what it needs of the models, and that it learns from step to step."""

from __future__ import annotations

import copy
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

import numpy as np

C = TypeVar("C")

METRICS = {"reward/mean": 0.25, "kl/reference": 0.5, "rollout/policy_tokens": 12.0}
"""Of the step that a component learns from."""


def declared_needs(component: Any, known: AbstractSet[str]) -> frozenset[str]:
    """What it needs; raises AssertionError if it asks for something that is not computed for its kind."""
    needs = frozenset(getattr(component, "needs", ()))
    assert needs <= known, f"needs holds {sorted(needs - known)}; known here are {sorted(known)}"
    return needs


def resumed(component: C) -> tuple[C, C]:
    """A copy that learnt from a step, and one that only took over what the first wrote down: they must do the same.

    What a component learns in ``after_step`` can be written down and taken back.
    """
    learnt, restored = copy.deepcopy(component), copy.deepcopy(component)
    if not hasattr(component, "state"):
        assert not hasattr(component, "after_step"), (
            "after_step() without state() and restore(): a resumed run would forget what it learnt; give {} if that is nothing"
        )
        return learnt, restored
    part: Any = learnt
    before = part.state()
    for name, value in before.items():
        assert isinstance(name, str), f"state() has the key {name!r}, which is no text"
        assert isinstance(value, float | int), f"state() holds {name} = {value!r}, which is no number"
        assert np.isfinite(value), f"state() holds {name} = {value!r}"
    if hasattr(part, "after_step"):
        part.after_step(METRICS)
    after = part.state()
    part.restore(before)
    assert part.state() == before, f"restore() of {before} gave {part.state()}"
    part.restore(after)
    restored.restore(after)  # type: ignore[attr-defined]
    return learnt, restored
