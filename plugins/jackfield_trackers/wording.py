"""What the console says, as plain strings and rows of strings: chosen from whatever metrics a run has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import frozen

from jackfield.report import StepReport


@frozen
class Figure:
    """A metric as it is shown: ``label`` in a step's line."""

    metric: str
    label: str
    decimals: int


FIGURES = (
    Figure("reward/mean", "reward", 3),
    Figure("reward/exact_match", "em", 3),
    Figure("kl/reference", "kl", 4),
    Figure("ppo_clip/clip_fraction", "clip", 3),
    Figure("bradley_terry/accuracy", "pairs right", 3),
    Figure("dpo/accuracy", "pairs right", 3),
    Figure("step_cross_entropy/accuracy", "steps right", 3),
    Figure("policy/entropy", "entropy", 3),
    Figure("grad_norm/policy", "grad", 2),
    Figure("rollout/truncated", "truncated", 3),
    Figure("speed/generate_tokens_per_second", "tok/s", 0),
)
"""A step's line, in this order, as far as the run has them."""

EVALUATION = "evaluation/"
DECIMALS = 3
MOST_VALUES = 8
"""A label with more values than this (a relation, a source) is left to ``metrics.jsonl``: its table would bury the rest."""


def step_line(report: StepReport, steps: int, *, samples: bool = True) -> str:
    """``step 12/200  reward 0.412  em 0.380 …  9.8 s``. Where rewards say nothing (there are none, or what is judged was recorded), the
    losses stand in their place."""
    rewarded = samples and "reward/mean" in report.metrics
    parts = [f"step {report.step:>{len(str(steps))}}/{steps}", *_figures(report.metrics, losses=not rewarded)]
    return "  ".join([*parts, *_seconds(report)])


def evaluation_title(report: StepReport, *, samples: bool = True) -> str:
    """``evaluation after step 20  reward 0.52  turns 1.9  34.1 s``; on recorded attempts, ``… cross_entropy 0.48  entropy 0.55  2.1 s``."""
    found = {n.removeprefix(EVALUATION): value for n, value in report.metrics.items()}
    shown = (("reward/mean", "reward"), ("rollout/turns", "turns"), ("rollout/truncated", "truncated"))
    parts = (
        [f"{label} {found[name]:.{DECIMALS}f}" for name, label in shown if name in found]
        if samples
        else _figures(found, losses=True)
    )
    return "  ".join([f"evaluation after step {report.step}", *parts, *_seconds(report)])


def evaluation_table(metrics: Mapping[str, float]) -> list[list[str]]:
    """A header and a row for all rollouts and for every label; a column for every source, and how many rollouts."""
    cells: dict[str, dict[str, float]] = {}
    few = _few_valued(metrics)
    for label, source, value in _by_label(metrics):
        if label and label not in few:
            continue
        cells.setdefault(label, {})[source] = value
    sources = sorted({s for row in cells.values() for s in row}, key=lambda s: (s == "rollouts", s != "exact_match", s))
    if not sources:
        return []
    rows = [
        [label or "all", *(_cell(row.get(s), 0 if s == "rollouts" else DECIMALS) for s in sources)] for label, row in cells.items()
    ]
    return [["", *sources], *rows]


def summary_table(reports: Sequence[StepReport], *, samples: bool = True, first_step: int = 0) -> list[list[str]]:
    """A header and, for every metric worth following, its first, last and best value; the best only where more is better."""
    since = f"since step {first_step}" if first_step else ""
    table = [[since, "first", "last", "best", "at step"]]
    for name, more_is_better in _followed(reports, samples=samples):
        series = [(report.step, report.metrics[name]) for report in reports if name in report.metrics]
        best_step, best = max(series, key=lambda entry: entry[1])
        row = [name, _cell(series[0][1]), _cell(series[-1][1])]
        table.append([*row, *((_cell(best), str(best_step)) if more_is_better else ("", ""))])
    return table if len(table) > 1 else []


def _followed(reports: Sequence[StepReport], *, samples: bool) -> Iterator[tuple[str, bool]]:
    """Metrics of the summary, and whether more of them is better."""
    names = list(dict.fromkeys(name for report in reports for name in report.metrics))
    rewards = [n for n in names if samples and n.startswith("reward/") and n.count("/") == 1]
    yield from ((name, True) for name in rewards)
    yield from ((name, False) for name in _followed_beside(names, losses=not rewards))
    if not samples:
        evaluated = [name.removeprefix(EVALUATION) for name in names if name.startswith(EVALUATION)]
        yield from ((EVALUATION + name, False) for name in _followed_beside(evaluated, losses=True))
        return
    few = _few_valued(names)
    for name in names:
        if name.startswith(EVALUATION) and not name.endswith("/rollouts"):
            label, source = _split(name)
            if "/" not in source and (not label or (label in few and source == "exact_match")):
                yield name, True


def _followed_beside(names: Iterable[str], *, losses: bool) -> Iterator[str]:
    """Beside rewards: losses, if they are to stand in for them, then FIGURES."""
    yield from (name for name in names if losses and name.startswith("losses/"))
    yield from (f.metric for f in FIGURES if f.metric in names and not f.metric.startswith("reward/"))


def _figures(metrics: Mapping[str, float], *, losses: bool) -> list[str]:
    """``reward 0.412``, ``clip 0.010`` …; or, in the place of rewards, ``cross_entropy 0.480``."""
    shown = [Figure(name, name.removeprefix("losses/"), DECIMALS) for name in metrics if losses and name.startswith("losses/")]
    shown += [f for f in FIGURES if f.metric in metrics and not (losses and f.metric.startswith("reward/"))]
    return [f"{f.label} {metrics[f.metric]:.{f.decimals}f}" for f in shown]


def _few_valued(names: Iterable[str]) -> set[str]:
    """The ``hops=2``-like labels in these metrics whose name has at most ``MOST_VALUES`` values."""
    labels = {_split(name)[0] for name in names if name.startswith(EVALUATION)} - {""}
    counts = Counter(label.partition("=")[0] for label in labels)
    return {label for label in labels if counts[label.partition("=")[0]] <= MOST_VALUES}


def _by_label(metrics: Mapping[str, float]) -> Iterator[tuple[str, str, float]]:
    """(label or "", source, value) of an evaluation's metrics that are per source; all rollouts first."""
    found = [(*_split(name), value) for name, value in metrics.items() if name.startswith(EVALUATION)]
    yield from sorted((entry for entry in found if "/" not in entry[1]), key=lambda entry: entry[:2])


def _split(name: str) -> tuple[str, str]:
    """``evaluation/hops=2/exact_match`` → ("hops=2", "exact_match"); without a label the first is empty."""
    rest = name.removeprefix(EVALUATION)
    label, _, source = rest.rpartition("/")
    return (label, source) if "=" in label else ("", rest)


def duration(seconds: float) -> str:
    """``41 s`` or ``2.8 min``."""
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.1f} min"


def _seconds(report: StepReport) -> list[str]:
    return [f"{report.seconds['total']:.1f} s"] if "total" in report.seconds else []


def _cell(value: float | None, decimals: int = DECIMALS) -> str:
    return "" if value is None else f"{value:.{decimals}f}"
