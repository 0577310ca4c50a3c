"""The result of one evaluation: every task's scores, so that figures, intervals and comparisons can be made of it at any time.

A result is a JSON file: what was evaluated (``what``, ``digest``, ``step``), how (``samples``, ``temperature``), ``scores`` by source
and task, ``labels`` by task, and, made of those, ``metrics`` and ``summary``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import asdict, field, frozen

from jackfield.errors import Problem, UserError, nearest
from jackfield.statistics import (
    Paired,
    bootstrap_interval,
    is_binary,
    paired,
    pass_at_k,
    wilson_interval,
)
from jackfield.types import Group, Scored

FORMAT = 1
MOST_VALUES = 50
"""A label with more values than this (an id) is no way to look at a result."""

Scores = tuple[float | None, ...]
"""One a sample; None where the source gave none (the rollout failed, or it abstained or failed itself)."""


@frozen(kw_only=True)
class Estimate:
    """A mean over tasks with its 95 % interval, which is unset where tasks that are all alike say nothing of it."""

    value: float
    low: float | None
    high: float | None
    interval: str
    """``wilson``, ``bootstrap`` or empty."""
    tasks: int
    """Tasks it is over."""


@frozen(kw_only=True)
class Line:
    """One source over all tasks, or over those with one label."""

    label: str
    """``hops=2``; empty for all tasks."""
    source: str
    tasks: int
    unscored: int
    """Samples without a score, which no estimate counts."""
    mean: Estimate | None
    """Over tasks, of a task's mean over its samples (mean@k)."""
    pass_at: Mapping[int, Estimate] = field(factory=dict)
    """k → the chance of at least one right answer in k, over tasks with so many scores; of sources whose scores are all 0 or 1."""


@frozen(kw_only=True)
class Result:
    """Scores of one policy on one split.

    Example: ``Result(what="runs/x", digest="", step=20, samples=1, temperature=0.0, scores={"exact_match": {"t1": (1.0,)}})``
    """

    what: str
    """The run, recipe or weights."""
    digest: str
    """Of the recipe; empty if unknown."""
    step: int | None
    """Of the checkpoint; None for weights of no run."""
    samples: int
    temperature: float
    scores: Mapping[str, Mapping[str, Scores]]
    """Source → task id → scores."""
    labels: Mapping[str, Mapping[str, str]] = field(factory=dict)
    """Task id → its labels."""
    metrics: Mapping[str, float] = field(factory=dict)
    extra: Mapping[str, Any] = field(factory=dict)
    """What else was said of it when it was made (the overlap with training)."""

    @property
    def tasks(self) -> list[str]:
        """Ids, in the order they were played."""
        return list(dict.fromkeys(task for by_task in self.scores.values() for task in by_task))

    def means(self, source: str) -> dict[str, float]:
        """Task id → mean over its samples, for tasks with any score."""
        found = {task: _scored(scores) for task, scores in self.scores[source].items()}
        return {task: float(np.mean(scores)) for task, scores in found.items() if scores}

    def summary(self, ks: Sequence[int] = ()) -> list[Line]:
        """A line for every source over all tasks, then for every value of every label."""
        everywhere = [("", self.tasks), *self._by_label()]
        return [self._line(label, tasks, source, ks) for label, tasks in everywhere for source in self.scores]

    def write(self, path: Path, ks: Sequence[int] = ()) -> None:
        """As JSON."""
        known = asdict(self)
        summary = [asdict(line) for line in self.summary(ks)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"format": FORMAT, **known, "summary": summary}, indent=1, ensure_ascii=False), encoding="utf-8")

    def _by_label(self) -> Iterator[tuple[str, list[str]]]:
        values: dict[str, dict[str, list[str]]] = {}
        for task in self.tasks:
            for name, value in self.labels.get(task, {}).items():
                values.setdefault(name, {}).setdefault(value, []).append(task)
        for name, tasks in sorted(values.items()):
            if len(tasks) <= MOST_VALUES:
                yield from ((f"{name}={value}", tasks[value]) for value in sorted(tasks))

    def _is_binary(self, source: str) -> bool:
        return is_binary([score for scores in self.scores[source].values() for score in _scored(scores)])

    def _line(self, label: str, tasks: Sequence[str], source: str, ks: Sequence[int]) -> Line:
        given = [self.scores[source].get(task, ()) for task in tasks]
        scored = [scores for scores in map(_scored, given) if scores]
        binary, alone = self._is_binary(source), self.samples == 1
        pass_at = {}
        for k in ks if binary else ():
            found = estimate([_pass(scores, k) for scores in scored if len(scores) >= k], binary=True, alone=alone)
            if found is not None:
                pass_at[k] = found
        return Line(
            label=label,
            source=source,
            tasks=len(tasks),
            unscored=len(tasks) * self.samples - sum(map(len, scored)),
            mean=estimate([float(np.mean(scores)) for scores in scored], binary=binary, alone=alone),
            pass_at=pass_at,
        )


def of_groups(groups: Sequence[Group[Scored]], sources: Sequence[str], **about: Any) -> Result:
    """Of played and judged groups, one a task."""
    return Result(
        scores={source: {group.task.id: tuple(_score(r, source) for r in group) for group in groups} for source in sources},
        labels={group.task.id: dict(group.task.labels) for group in groups},
        **about,
    )


def of_records(records: Iterable[Mapping[str, Any]], **about: Any) -> Result:
    """Of the lines that the tracker ``rollouts_jsonl`` wrote of an evaluation."""
    rows = list(records)
    sources = dict.fromkeys(source for row in rows for source in row["verdicts"])
    scores: dict[str, dict[str, Scores]] = {source: {} for source in sources}
    for row in rows:
        for source in sources:
            verdict = row["verdicts"].get(source)
            score = verdict["value"] if verdict is not None and verdict["kind"] == "score" else None
            scores[source][row["task"]] = (*scores[source].get(row["task"], ()), score)
    return Result(scores=scores, labels={row["task"]: row["labels"] for row in rows}, **about)


def read(path: Path) -> Result:
    """A result that ``write`` wrote. UserError if it is none."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(Problem(str(path), "", f"cannot be read as a result of jackfield eval: {error}")) from None
    if not isinstance(known, dict) or known.get("format") != FORMAT:
        raise UserError(Problem(str(path), "", "is no result of jackfield eval (written with --json, or in a run's evaluations/)"))
    scores = {source: {task: tuple(given) for task, given in by.items()} for source, by in known["scores"].items()}
    return Result(**{key: known[key] for key in known if key not in ("format", "summary", "scores")}, scores=scores)


def find(path: Path, *, samples: int, temperature: float) -> Result:
    """The result in a file, or a run's newest one made in the same way: by ``jackfield eval``, else (greedy) by the run itself.

    Raises UserError if there is none.
    """
    if not (path / "recipe.toml").is_file():
        return read(path)
    results = [*map(read, sorted(path.glob("evaluations/*.json"))), *filter(None, [within_run(path)])]
    alike = [known for known in results if (known.samples, known.temperature) == (samples, temperature)]
    if not alike:
        how = f" --samples {samples} --temperature {temperature:g}" if temperature else ""
        raise UserError(Problem(str(path), "", f"has no result made in the same way; make one first: jackfield eval {path}{how}"))
    return max(alike, key=lambda known: (known.step or 0, len(known.tasks)))


def within_run(folder: Path) -> Result | None:
    """The newest evaluation that the run itself made, if its tracker ``rollouts_jsonl`` kept one in which the policy was sampled (and
    not a recording played)."""
    for path in sorted(folder.glob("rollouts/evaluation-*.jsonl"), reverse=True):
        with path.open(encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        if any(segment.get("logp") for record in records for segment in record["segments"]):
            step = int(path.stem.rpartition("-")[2])
            return of_records(records, what=str(folder), digest="", step=step, samples=1, temperature=0.0)
    return None


def compared(first: Result, second: Result, source: str | None = None) -> dict[str, Paired]:
    """Source → the paired comparison, on the tasks that both have a score of.

    Raises UserError if they have no source or no task in common.
    """
    sources = [name for name in first.scores if name in second.scores and source in (None, name)]
    if not sources:
        names = nearest(source, first.scores) if source else f": {', '.join(first.scores)} there, {', '.join(second.scores)} here"
        raise UserError(Problem(first.what, source or "", f"no reward source in common{names}"))
    found = {}
    for name in sources:
        one, other = first.means(name), second.means(name)
        shared = [task for task in one if task in other]
        if shared:
            found[name] = paired([one[task] for task in shared], [other[task] for task in shared])
    if not found:
        raise UserError(Problem(first.what, "", f"no task in common with {second.what}: they were evaluated on other data"))
    return found


def _score(rollout: Scored, source: str) -> float | None:
    verdict = rollout.verdicts.get(source)
    return verdict.value if verdict is not None and verdict.kind == "score" else None


def _scored(scores: Scores) -> list[float]:
    return [score for score in scores if score is not None]


def _pass(scores: Sequence[float], k: int) -> float:
    return pass_at_k(len(scores), int(sum(scores)), k)


def estimate(values: Sequence[float], *, binary: bool, alone: bool) -> Estimate | None:
    """The mean of ``values``, one a task, made of scores that are all 0 or 1 (``binary``), of a single one each (``alone``): with
    Wilson's interval for single scores of 0 or 1, else a bootstrap's. None if there are no values."""
    if not values:
        return None
    # Tasks that are all alike leave a bootstrap nothing to vary, yet a few of them prove little: Wilson's holds for shares too.
    alike = len(set(values)) == 1
    if binary and (alone or alike):
        how, interval = "wilson", wilson_interval(min(float(np.sum(values)), len(values)), len(values))
    elif alike:
        return Estimate(value=float(values[0]), low=None, high=None, interval="", tasks=len(values))
    else:
        how, interval = "bootstrap", bootstrap_interval(values)
    return Estimate(value=float(np.mean(values)), low=interval.low, high=interval.high, interval=how, tasks=len(values))
