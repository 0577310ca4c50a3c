"""Rollouts on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jackfield.report import RunInfo, StepReport
from jackfield.types import Group, Scored
from jackfield_trackers.rollouts_jsonl import RolloutsJsonl

MakeRun = Callable[..., RunInfo]
MakeReport = Callable[..., StepReport]


def test_everything_there_is_to_know(run_info: MakeRun, step_report: MakeReport, group: Group[Scored], tmp_path: Path) -> None:
    """A line a rollout: task, finish, counters, verdicts and segments, log-probs and advantages where the policy wrote."""
    tracker = RolloutsJsonl()
    tracker.start(run_info())
    tracker.step(step_report(12, groups=(group,)))
    [path] = (tmp_path / "rollouts").iterdir()
    assert path.name == "step-000012.jsonl"
    learned, failed = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    segments = learned.pop("segments")
    assert learned == {
        "group": "1/0",
        "task": "t/1",
        "origin": "",
        "prompt": [{"role": "user", "content": "Capital of France?"}],
        "question": "Capital of France?",
        "answers": ["Paris"],
        "labels": {"hops": "1"},
        "member": 0,
        "finish": {"reason": "answer", "detail": "said Paris"},
        "counters": {"turns": 2.0, "search_calls": 1.0},
        "reward": 1.0,
        "verdicts": {
            "exact_match": {"kind": "score", "value": 1.0, "reason": "equals 'paris'", "parsed": "Paris", "extras": {"f1": 0.5}},
            "format": {"kind": "abstain", "value": None, "reason": "no format asked", "parsed": None, "extras": {}},
        },
    }
    assert segments == [
        {"writer": "task", "text": "Capital?", "tokens": [1, 2]},
        {"writer": "policy", "text": "<search>x", "tokens": [3, 4], "logp": [-0.1235, None], "advantage": [0.75, -0.25]},
        {"writer": "environment", "text": "東京\n[red]doc[/red]\x1b[2J", "tokens": [5]},
        {"writer": "policy", "text": "Paris", "tokens": [6], "logp": [-1.0], "advantage": [0.7071]},
    ]
    assert failed["reward"] is None
    assert failed["segments"][1]["advantage"] is None


def test_evaluations_stand_apart_and_size_is_bounded(
    run_info: MakeRun, step_report: MakeReport, group: Group[Scored], tmp_path: Path
) -> None:
    """An evaluation has its own file; ``max_rollouts`` keeps the first."""
    tracker = RolloutsJsonl(max_rollouts=3)
    tracker.start(run_info())
    tracker.step(step_report(5, "evaluation", groups=(group, group, group)))
    text = (tmp_path / "rollouts" / "evaluation-000005.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line)["member"] for line in text.splitlines()] == [0, 1, 0]


def test_a_file_is_whole_or_not_there(
    run_info: MakeRun, step_report: MakeReport, group: Group[Scored], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure half way leaves no file of that name."""
    tracker = RolloutsJsonl()
    tracker.start(run_info())

    def fail_late(*_: object) -> str:
        raise OSError("disk full")

    monkeypatch.setattr("jackfield_trackers.strict_json.line", fail_late)
    with pytest.raises(OSError, match="disk full"):
        tracker.step(step_report(1, groups=(group,)))
    assert not list((tmp_path / "rollouts").glob("*.jsonl"))


def test_resuming_removes_what_is_run_again(
    run_info: MakeRun, step_report: MakeReport, group: Group[Scored], tmp_path: Path
) -> None:
    """Files of later steps go, earlier ones stay."""
    tracker = RolloutsJsonl()
    tracker.start(run_info())
    tracker.step(step_report(0, "evaluation", groups=(group,)))
    for step in (1, 2, 3):
        tracker.step(step_report(step, groups=(group,)))
    RolloutsJsonl().start(run_info(first_step=1))
    assert sorted(p.stem for p in (tmp_path / "rollouts").iterdir()) == ["evaluation-000000", "step-000001"]
