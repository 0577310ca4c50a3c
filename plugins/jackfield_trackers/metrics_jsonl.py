"""Metrics on disk."""

from __future__ import annotations

import json
from pathlib import Path

from attrs import define, field

from jackfield.report import RunInfo, StepReport
from jackfield_trackers import strict_json


@define(kw_only=True)
class MetricsJsonl:
    """``metrics.jsonl`` in the run folder, one line a report, on disk as soon as it is known.

    Example: ``{"kind":"step","step":12,"metrics":{"reward/mean":0.41},"seconds":{"generate":5.1,"total":9.8}}``

    A resumed run goes on after the step it resumes from: later lines, of steps that are run again, are dropped.
    """

    _path: Path | None = field(default=None, init=False)

    def start(self, run: RunInfo) -> None:
        """Keep what a resumed run keeps, else begin anew."""
        self._path = run.folder / "metrics.jsonl"
        kept = _until(self._path, run.first_step) if run.first_step and self._path.exists() else []
        strict_json.write(self._path, kept)

    def progress(self, phase: str, done: int, total: int) -> None:
        """Nothing."""

    def step(self, report: StepReport) -> None:
        """Append a line."""
        if self._path is None:
            raise RuntimeError("the tracker has not been started")
        record = {"kind": report.kind, "step": report.step, "metrics": report.metrics, "seconds": report.seconds}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(strict_json.line(record))

    def end(self, error: BaseException | None) -> None:
        """Nothing: every line is on disk."""


def _until(path: Path, step: int) -> list[str]:
    """The lines of steps up to this one. A last line that a killed run left unfinished is dropped with the later ones."""
    with path.open(encoding="utf-8") as file:
        return [line for line in file if line.endswith("\n") and json.loads(line)["step"] <= step]
