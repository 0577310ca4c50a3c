"""Several runs in figures: the evaluation set with intervals and paired tests, then what training looked like and cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import asdict, frozen

from jackfield.compare.record import AVERAGED, Record
from jackfield.figures import estimate as shown
from jackfield.figures import p_value
from jackfield.result import Estimate, estimate
from jackfield.statistics import Paired, is_binary, paired

FIXED = {"kl/reference": "KL", "rollout/policy_tokens": "policy tokens a rollout"}
"""Metrics shown of every run beside its rewards."""


@frozen(kw_only=True, eq=False)
class Compared:
    """One line of the comparison: a recipe's runs, one a seed, or a single run."""

    name: str
    runs: tuple[Record, ...]

    @property
    def sources(self) -> list[str]:
        """Reward sources with scores on the evaluation set in every run."""
        scored = [run.result.scores if run.result is not None else {} for run in self.runs]
        return [source for source in scored[0] if all(source in by_source for by_source in scored)]

    def means(self, source: str) -> dict[str, float]:
        """Task id → mean over the seeds, for the tasks that all have a score of; empty without such scores."""
        if source not in self.sources:
            return {}
        by_run = [run.result.means(source) for run in self.runs if run.result is not None]
        return {task: float(np.mean([found[task] for found in by_run])) for task in by_run[0] if all(task in f for f in by_run)}

    def accuracy(self, source: str) -> Estimate | None:
        """Over tasks; over several seeds the interval is a bootstrap's, and says nothing of other seeds."""
        values = list(self.means(source).values())
        return estimate(values, binary=is_binary(values), alone=len(self.runs) == 1)

    def against(self, first: Compared, source: str) -> Paired | None:
        """Task by task, on those both have; None if there are none."""
        ours, theirs = self.means(source), first.means(source)
        shared = [task for task in theirs if task in ours]
        return paired([theirs[task] for task in shared], [ours[task] for task in shared]) if shared else None

    def last(self, metric: str) -> float | None:
        """Mean over the runs of their last training steps."""
        found = [run.last[metric] for run in self.runs if metric in run.last]
        return sum(found) / len(found) if found else None


def markdown(title: str, lines: Sequence[Compared]) -> str:
    """The whole table."""
    parts = [f"# {title}", "", *_evaluation(lines), "", *_training(lines), "", *_cost(lines), ""]
    return "\n".join(parts)


def write_json(path: Path, lines: Sequence[Compared]) -> None:
    """The same with every number in full, and the curves."""
    known = {"first": lines[0].name, "lines": [_line(line, lines[0]) for line in lines]}
    path.write_text(json.dumps(known, indent=1, ensure_ascii=False), encoding="utf-8")


def all_sources(lines: Sequence[Compared]) -> list[str]:
    """Sources that any line has scores of."""
    return list(dict.fromkeys(source for line in lines for source in line.sources))


def rewards(lines: Sequence[Compared]) -> list[str]:
    """The training metrics ``reward/<source>`` of any run, the total first."""
    names = dict.fromkeys(name for line in lines for run in line.runs for name in run.last)
    of_sources = [name for name in names if name.startswith("reward/") and name.count("/") == 1]
    return sorted(of_sources, key=lambda name: name != "reward/mean")


def _evaluation(lines: Sequence[Compared]) -> list[str]:
    rows = [["", "source", "tasks", "mean [95 %]", "by seed", f"against {lines[0].name}", "p", "test"]]
    for source in all_sources(lines):
        for line in lines:
            found = line.accuracy(source)
            if found is None:
                continue
            row = [line.name, source, str(found.tasks), shown(found), _by_seed(line, source)]
            pair = line.against(lines[0], source) if line is not lines[0] else None
            rows.append([*row, *(["", "", ""] if pair is None else [_difference(pair), p_value(pair.p), pair.test])])
    told = "Greedy, on the test split, after the last step. Intervals are over tasks, not over seeds of training."
    missing = [line.name for line in lines if not line.sources]
    without = [f"Without scores of an evaluation (`jackfield eval RUN` makes them): {', '.join(missing)}."] if missing else []
    return ["## Evaluation", "", *([told, "", *_rows(rows), ""] if len(rows) > 1 else []), *without]


def _training(lines: Sequence[Compared]) -> list[str]:
    metrics = [*rewards(lines), *(name for name in FIXED if any(line.last(name) is not None for line in lines))]
    rows = [["", *(FIXED.get(name, name) for name in metrics)]]
    rows += [[line.name, *(_number(line.last(name)) for name in metrics)] for line in lines]
    return ["## Training", "", f"Means of the last {AVERAGED} steps (of all, where there are fewer).", "", *_rows(rows)]


def _cost(lines: Sequence[Compared]) -> list[str]:
    rows = [["", "runs", "steps", "tokens generated", "minutes of training", "peak GiB", "models held"]]
    for line in lines:
        tokens = _mean([run.training[-1].tokens if run.sampled else 0.0 for run in line.runs if run.training])
        minutes = _mean([run.training[-1].seconds / 60 for run in line.runs if run.training])
        peak = [run.peak_gib for run in line.runs if run.peak_gib is not None]
        steps = sorted({run.training[-1].step if run.training else 0 for run in line.runs})
        held = ", ".join(line.runs[0].held)
        spent = ["" if tokens is None else f"{tokens:.0f}", _number(minutes, 1), _number(max(peak, default=None), 1)]
        rows.append([line.name, str(len(line.runs)), ", ".join(map(str, steps)), *spent, held])
    return [
        "## Cost",
        "",
        "Tokens and minutes a run; memory is the most main memory of the process that trained.",
        "",
        *_rows(rows),
    ]


def _line(line: Compared, first: Compared) -> dict[str, Any]:
    sources = {}
    for source in line.sources:
        found, pair = line.accuracy(source), line.against(first, source)
        sources[source] = {
            "accuracy": None if found is None else asdict(found),
            "against_first": None if pair is None or line is first else asdict(pair),
        }
    return {"name": line.name, "evaluation": sources, "runs": [_run(run) for run in line.runs]}


def _run(run: Record) -> dict[str, Any]:
    return {
        "folder": str(run.folder),
        "seed": run.seed,
        "held": run.held,
        "sampled": run.sampled,
        "peak_gib": run.peak_gib,
        "last": run.last,
        "training": [asdict(point) for point in run.training],
        "evaluations": [asdict(point) for point in run.evaluations],
    }


def _by_seed(line: Compared, source: str) -> str:
    if len(line.runs) == 1:
        return ""
    means = {run.seed: run.result.means(source) for run in line.runs if run.result is not None}
    return ", ".join(f"{seed}: {_number(_mean(list(found.values())))}" for seed, found in means.items())


def _difference(pair: Paired) -> str:
    return f"{pair.difference:+.3f} [{pair.interval.low:+.3f}, {pair.interval.high:+.3f}]"


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _number(value: float | None, decimals: int = 3) -> str:
    return "" if value is None else f"{value:.{decimals}f}"


def _rows(rows: Sequence[Sequence[str]]) -> list[str]:
    header, *body = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    return [header, "|" + "---|" * len(rows[0]), *body]


def series(lines: Sequence[Compared], metric: str, against: str) -> Mapping[str, list[tuple[list[float], list[float]]]]:
    """Name of the line → one curve (x, y) a run, ``against`` ``tokens`` or ``seconds``; metrics of evaluations start with
    ``evaluation/``."""
    curves: dict[str, list[tuple[list[float], list[float]]]] = {}
    for line in lines:
        for run in line.runs:
            points = [p for p in (run.evaluations if metric.startswith("evaluation/") else run.training) if metric in p.metrics]
            if points:
                curves.setdefault(line.name, []).append(
                    ([getattr(p, against) for p in points], [p.metrics[metric] for p in points])
                )
    return curves
