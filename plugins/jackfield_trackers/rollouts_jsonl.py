"""Rollouts on disk."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field

from jackfield.component import at_least, option
from jackfield.report import RunInfo, StepReport
from jackfield.types import Credited, FloatArray, Group, Scored, Verdict
from jackfield_trackers import strict_json

DIGITS = 4
"""Decimals kept of log-probs and advantages."""


@define(kw_only=True)
class RolloutsJsonl:
    """``rollouts/step-000012.jsonl`` and ``rollouts/evaluation-000012.jsonl`` in the run folder, one line a rollout; what
    ``jackfield show`` reads. A file appears whole or not at all. Resuming removes those of steps that are run again.

    A line: ``{"group", "task", "origin", "prompt": [{"role", "content"}], "question", "answers", "labels", "member", "finish": {"reason",
    "detail"}, "counters", "reward", "verdicts": {source: {"kind", "value", "reason", "parsed", "extras"}}, "segments": [{"writer", "text",
    "tokens", …}]}``.
    A segment of the policy also has ``logp`` (null if recorded) and ``advantage`` (null if it took no part in learning), each
    one number a token.
    """

    max_rollouts: int = option(
        0, help="at most so many rollouts a file, the first of the step or evaluation; 0: all", check=at_least(0)
    )
    _folder: Path | None = field(default=None, init=False)

    def start(self, run: RunInfo) -> None:
        """Make the folder, and room for the steps to come."""
        self._folder = run.folder / "rollouts"
        self._folder.mkdir(parents=True, exist_ok=True)
        for path in self._folder.glob("*-*.jsonl"):
            if int(path.stem.rpartition("-")[2]) > run.first_step:
                path.unlink()

    def progress(self, phase: str, done: int, total: int) -> None:
        """Nothing."""

    def step(self, report: StepReport) -> None:
        """Write the step's file."""
        if self._folder is None:
            raise RuntimeError("the tracker has not been started")
        records = (record(group, rollout) for group in report.groups for rollout in group)
        lines = (strict_json.line(r) for r in islice(records, self.max_rollouts or None))
        strict_json.write(self._folder / f"{report.kind}-{report.step:06d}.jsonl", lines)

    def end(self, error: BaseException | None) -> None:
        """Nothing: every file is whole."""


def record(group: Group[Scored], rollout: Scored) -> dict[str, Any]:
    """A rollout as plain data, as the class above lists it."""
    task = rollout.task
    return {
        "group": group.id,
        "task": task.id,
        "origin": task.origin,
        "prompt": [{"role": message.role, "content": message.content} for message in task.prompt],
        "question": task.question,
        "answers": task.answers,
        "labels": task.labels,
        "member": rollout.member,
        "finish": {"reason": rollout.finish.reason, "detail": rollout.finish.detail},
        "counters": rollout.counters,
        "reward": rollout.reward,
        "verdicts": {source: _verdict(verdict) for source, verdict in rollout.verdicts.items()},
        "segments": _segments(rollout),
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "kind": verdict.kind,
        "value": verdict.value if verdict.kind == "score" else None,
        "reason": verdict.reason,
        "parsed": verdict.parsed,
        "extras": verdict.extras,
    }


def _segments(rollout: Scored) -> list[dict[str, Any]]:
    advantage_L = rollout.advantage if isinstance(rollout, Credited) else None
    segments = []
    start = 0
    for segment in rollout.segments:
        stop = start + len(segment.tokens)
        written: dict[str, Any] = {"writer": segment.writer, "text": segment.text, "tokens": segment.tokens.tolist()}
        if segment.writer == "policy":
            written["logp"] = _rounded(segment.logp)
            written["advantage"] = _rounded(None if advantage_L is None else advantage_L[start:stop])
        segments.append(written)
        start = stop
    return segments


def _rounded(values: FloatArray | None) -> list[float] | None:
    if values is None:
        return None
    return [float(value) for value in np.round(values.astype(np.float64), DIGITS)]
