"""A run as it is compared: its curves over tokens and seconds, and the scores of its last evaluation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from jackfield import result
from jackfield.errors import Problem, UserError
from jackfield.recipe import load_recipe
from jackfield.result import Result
from jackfield.stages import CRITIC

if TYPE_CHECKING:
    from jackfield.corridor import Corridor
    from jackfield.plugins import Plugins

AVERAGED = 10
"""A run's last training figures are means over so many steps, for one step's are noisy."""


@frozen(kw_only=True)
class Point:
    """A step or an evaluation, and what had been spent by then."""

    step: int
    tokens: float
    """Policy tokens that had been generated (by an engine that plays recordings: played)."""
    seconds: float
    """Of training steps; evaluations not counted."""
    metrics: Mapping[str, float]


@frozen(kw_only=True, eq=False)
class Record:
    """What is known of a run."""

    folder: Path
    seed: int
    held: tuple[str, ...]
    """Models in memory besides the sampling engine's copy."""
    sampled: bool
    """Its engine samples; else it learns from recordings, and generates nothing."""
    training: tuple[Point, ...]
    evaluations: tuple[Point, ...]
    """Of the policy: those of recordings are left out."""
    result: Result | None
    """Scores of the newest checkpoint; None if it was never evaluated."""

    @property
    def last(self) -> dict[str, float]:
        """Mean of every training metric over the last steps that have it."""
        names = dict.fromkeys(name for point in self.training for name in point.metrics)
        series = {name: [point.metrics[name] for point in self.training if name in point.metrics] for name in names}
        return {name: sum(values[-AVERAGED:]) / len(values[-AVERAGED:]) for name, values in series.items()}

    @property
    def peak_gib(self) -> float | None:
        """Most main memory, if the run recorded it."""
        return max((point.metrics[PEAK] for point in self.training if PEAK in point.metrics), default=None)


PEAK = "memory/peak_gib"


def read_run(folder: Path, plugins: Plugins, evaluated: Path | None = None) -> Record:
    """The run in ``folder``, with the scores in ``evaluated``, or else those of its own newest greedy evaluation.

    Raises UserError for a folder that is no run or has no metrics.
    """
    corridor = load_recipe(folder / "recipe.toml", plugins).corridor
    sampled = corridor.engine.samples
    training, evaluations = _points(folder)
    scores = result.read(evaluated) if evaluated is not None else _own_result(folder)
    if evaluated is not None or not sampled:
        evaluations = []
    if scores is not None and not evaluations and training:
        figures = {f"evaluation/{line.source}": line.mean.value for line in scores.summary() if not line.label and line.mean}
        end = training[-1]
        evaluations = [Point(step=end.step, tokens=end.tokens, seconds=end.seconds, metrics=figures)]
    return Record(
        folder=folder,
        seed=corridor.run.seed,
        held=tuple(_held(corridor)),
        sampled=sampled,
        training=tuple(training),
        evaluations=tuple(evaluations),
        result=scores,
    )


def _own_result(folder: Path) -> Result | None:
    try:
        return result.find(folder, samples=1, temperature=0.0)
    except UserError:
        return None


def _points(folder: Path) -> tuple[list[Point], list[Point]]:
    """Training steps and evaluations."""
    found: dict[str, list[Point]] = {"step": [], "evaluation": []}
    tokens = seconds = 0.0
    for line in _lines(folder / "metrics.jsonl"):
        metrics = {name: value for name, value in line["metrics"].items() if value is not None}
        if line["kind"] == "step":
            tokens += metrics["generate/tokens"]
            seconds += line["seconds"]["total"]
        found[line["kind"]].append(Point(step=line["step"], tokens=tokens, seconds=seconds, metrics=metrics))
    return found["step"], found["evaluation"]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        raise UserError(Problem(str(path), "", "is not there; only runs with the tracker 'metrics_jsonl' can be compared"))
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.endswith("\n"))


def _held(corridor: Corridor) -> Iterable[str]:
    yield "policy"
    if "ref_logp" in corridor.needs:
        yield "reference"
    if corridor.critic is not None and corridor.needs & CRITIC:
        yield "critic"
    yield from (reward.name for reward in corridor.rewards if getattr(reward.part, "holds", ""))
