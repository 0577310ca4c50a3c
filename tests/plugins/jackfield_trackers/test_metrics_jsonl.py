"""Metrics on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from jackfield.report import RunInfo, StepReport
from jackfield_trackers.metrics_jsonl import MetricsJsonl

MakeRun = Callable[..., RunInfo]
MakeReport = Callable[..., StepReport]


def lines(folder: Path) -> list[dict[str, Any]]:
    """All records, read as strict JSON."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    text = (folder / "metrics.jsonl").read_text(encoding="utf-8")
    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


def test_a_line_a_report_at_once(run_info: MakeRun, step_report: MakeReport, tmp_path: Path) -> None:
    """Each report is on disk before the next, whole, with numpy numbers as numbers and NaN as null."""
    tracker = MetricsJsonl()
    tracker.start(run_info())
    tracker.step(step_report(1, reward__mean=np.float32(0.5), grad_norm=float("inf"), policy__entropy=np.nan))
    assert lines(tmp_path) == [
        {
            "kind": "step",
            "step": 1,
            "metrics": {"reward/mean": 0.5, "grad_norm": None, "policy/entropy": None},
            "seconds": {"generate": 1.5, "total": 2.5},
        }
    ]
    tracker.step(step_report(1, "evaluation", evaluation__exact_match=0.25))
    assert [(r["kind"], r["step"]) for r in lines(tmp_path)] == [("step", 1), ("evaluation", 1)]
    tracker.end(None)


def test_a_resumed_run_has_no_step_twice(run_info: MakeRun, step_report: MakeReport, tmp_path: Path) -> None:
    """Lines after the step resumed from are dropped, with the half line of a killed run."""
    tracker = MetricsJsonl()
    tracker.start(run_info())
    tracker.step(step_report(0, "evaluation"))
    for step in (1, 2, 3):
        tracker.step(step_report(step))
    with (tmp_path / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"kind":"st')
    resumed = MetricsJsonl()
    resumed.start(run_info(first_step=2))
    assert [(r["kind"], r["step"]) for r in lines(tmp_path)] == [("evaluation", 0), ("step", 1), ("step", 2)]
    resumed.step(step_report(3))
    assert [r["step"] for r in lines(tmp_path)] == [0, 1, 2, 3]


def test_a_fresh_run_begins_anew(run_info: MakeRun, step_report: MakeReport, tmp_path: Path) -> None:
    """What an attempt without a checkpoint left is not kept; resuming without a file makes one."""
    (tmp_path / "metrics.jsonl").write_text('{"kind":"evaluation","step":0}\n', encoding="utf-8")
    MetricsJsonl().start(run_info())
    assert lines(tmp_path) == []
    (tmp_path / "metrics.jsonl").unlink()
    MetricsJsonl().start(run_info(first_step=2))
    assert lines(tmp_path) == []
    assert [p.name for p in tmp_path.iterdir()] == ["metrics.jsonl"]
