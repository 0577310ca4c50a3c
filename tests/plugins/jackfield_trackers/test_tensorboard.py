"""Metrics in TensorBoard."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jackfield.errors import UserError
from jackfield.report import RunInfo, StepReport
from jackfield_trackers.tensorboard import TensorBoard

MakeRun = Callable[..., RunInfo]
MakeReport = Callable[..., StepReport]


class Writer:
    """Keeps what it is told."""

    opened: list[Writer] = []  # noqa: RUF012

    def __init__(self, folder: str, purge_step: int | None) -> None:
        self.folder, self.purge_step, self.closed = folder, purge_step, False
        self.scalars: list[tuple[str, float, int]] = []
        Writer.opened.append(self)

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.scalars.append((name, value, step))

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def test_scalars(run_info: MakeRun, step_report: MakeReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every metric at its step, seconds of steps and evaluations apart; a resumed run hides later steps."""
    module: Any = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    tracker = TensorBoard()
    tracker.start(run_info(first_step=4))
    tracker.step(step_report(5, reward__mean=0.5))
    tracker.step(step_report(5, "evaluation", evaluation__exact_match=0.25))
    tracker.end(None)
    writer = Writer.opened.pop()
    assert (writer.folder, writer.purge_step, writer.closed) == (str(tmp_path / "tensorboard"), 5, True)
    assert writer.scalars == [
        ("reward/mean", 0.5, 5),
        ("seconds/generate", 1.5, 5),
        ("seconds/total", 2.5, 5),
        ("evaluation/exact_match", 0.25, 5),
        ("evaluation/seconds/generate", 1.5, 5),
        ("evaluation/seconds/total", 2.5, 5),
    ]


def test_not_installed(run_info: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(UserError, match=r"pip install 'jackfield\[tensorboard\]'"):
        TensorBoard().start(run_info())
