"""Runs and reports for trackers to track."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from jackfield.report import RunInfo, StepReport
from jackfield.types import Credited, Finish, Group, Message, Scored, Segment, Task, Verdict, promote


@pytest.fixture
def run_info(tmp_path: Path) -> Callable[..., RunInfo]:
    """A run of 20 steps in a temporary folder."""
    return lambda first_step=0: RunInfo(title="Sums", folder=tmp_path, steps=20, first_step=first_step, frozen_recipe={})


@pytest.fixture
def step_report() -> Callable[..., StepReport]:
    """A report of a step, with or without rollouts."""

    def report(step: int, kind: str = "step", groups: tuple[Group[Scored], ...] = (), **metrics: float) -> StepReport:
        named = {name.replace("__", "/"): value for name, value in metrics.items()}
        return StepReport(kind=kind, step=step, metrics=named, seconds={"generate": 1.5, "total": 2.5}, groups=groups)

    return report


@pytest.fixture
def group() -> Group[Scored]:
    """One group of two: a learned rollout ``P P A A E A`` and one whose only source failed."""
    task = Task(id="t/1", prompt=(Message(role="user", content="Capital of France?"),), answers=("Paris",), labels={"hops": "1"})
    right = Scored(
        task=task,
        member=0,
        segments=(
            Segment(tokens=np.array([1, 2]), writer="task", text="Capital?"),
            Segment(tokens=np.array([3, 4]), writer="policy", text="<search>x", logp=np.array([-0.123456, np.nan], np.float32)),
            Segment(tokens=np.array([5]), writer="environment", text="東京\n[red]doc[/red]\x1b[2J"),
            Segment(tokens=np.array([6]), writer="policy", text="Paris", logp=np.array([-1.0], np.float32)),
        ),
        finish=Finish(reason="answer", detail="said Paris"),
        counters={"turns": 2.0, "search_calls": 1.0},
        verdicts={
            "exact_match": Verdict.score(1.0, "equals 'paris'", "Paris", f1=np.float32(0.5)),
            "format": Verdict.abstain("no format asked"),
        },
        reward=1.0,
    )
    nan = np.nan
    learned = promote(Credited, right, token_reward=np.zeros(6), advantage=np.array([nan, nan, 0.75, -0.25, nan, 0.70711]))
    failed = Scored(
        task=task,
        member=1,
        segments=right.segments[:2],
        finish=Finish(reason="length"),
        verdicts={"exact_match": Verdict.error("timed out")},
        reward=None,
    )
    return Group(id="1/0", task=task, members=(learned, failed))
