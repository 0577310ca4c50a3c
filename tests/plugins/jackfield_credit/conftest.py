"""Measured rollouts written as a string of writers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np
import pytest

from jackfield.types import Finish, FinishReason, FloatArray, Group, Measured, Segment, Task, Writer

WRITERS: dict[str, Writer] = {"P": "task", "A": "policy", "E": "environment"}


@pytest.fixture
def measured() -> Callable[..., Measured]:
    """``measured("PPAAEA", rewards=…, values=…)``: one reward and value a policy token, ``elsewhere`` at all others."""
    return _measured


@pytest.fixture
def group() -> Callable[..., Group[Measured]]:
    """A group of these rollouts."""
    return lambda *members: Group(id="1/0", task=members[0].task, members=members)


def _measured(
    writers: str,
    *,
    rewards: Sequence[float],
    values: Sequence[float] | None = None,
    reason: FinishReason = "answer",
    bootstrap: float | None = 0.0,
    elsewhere: float = np.nan,
) -> Measured:
    def place(numbers: Sequence[float]) -> FloatArray:
        placed = np.full(len(writers), elsewhere)
        placed[[i for i, w in enumerate(writers) if w == "A"]] = numbers
        return placed

    segments = tuple(Segment(tokens=np.arange(len(list(run))), writer=WRITERS[w]) for w, run in groupby(writers))
    return Measured(
        task=Task(id="t", prompt=()),
        member=0,
        segments=segments,
        finish=Finish(reason=reason),
        verdicts={},
        reward=float(sum(rewards)),
        token_reward=place(rewards),
        value=None if values is None else place(values),
        bootstrap_value=bootstrap,
    )
