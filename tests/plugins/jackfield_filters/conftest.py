"""Judged rollouts with nothing in them but what filters look at."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from jackfield.types import Finish, FinishReason, Group, Scored, Segment, Task, Verdict

TASK = Task(id="t", prompt=())


@pytest.fixture
def judged() -> Callable[..., Group[Scored]]:
    """``judged("1/0", 1.0, 0.0)``: a group with these rewards; ``reasons`` and ``lengths`` (policy tokens) a member."""
    return _judged


def _judged(
    name: str, *rewards: float | None, reasons: tuple[FinishReason, ...] = (), lengths: tuple[int, ...] = ()
) -> Group[Scored]:
    members = tuple(
        Scored(
            task=TASK,
            member=member,
            segments=(
                Segment(tokens=np.arange(2), writer="task"),
                Segment(tokens=np.arange(lengths[member] if lengths else 3), writer="policy"),
                Segment(tokens=np.arange(2), writer="environment"),
            ),
            finish=Finish(reason=reasons[member] if reasons else "answer"),
            verdicts={} if reward is None else {"given": Verdict.score(reward)},
            reward=reward,
        )
        for member, reward in enumerate(rewards)
    )
    return Group(id=name, task=TASK, members=members)
