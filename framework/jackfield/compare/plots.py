"""Curves of several runs, one panel a figure, against tokens and against seconds. Needs matplotlib (``pip install 'jackfield[compare]'``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jackfield.compare.table import FIXED, Compared, all_sources, rewards, series

AGAINST = {"tokens": "policy tokens, generated or replayed", "seconds": "seconds of training"}
PANEL = (5.0, 2.6)
"""Inches."""


def draw(lines: Sequence[Compared], folder: Path) -> list[Path]:
    """Write ``evaluation.png`` (what the sources say of the test split) and ``training.png`` (rewards, KL, length). A source that is in
    both can be followed from one to the other; where a learnt reward rises and the true score does not, they part.

    Raises ImportError without matplotlib.
    """
    import matplotlib.figure  # noqa: F401  before anything is written

    wanted = {
        "evaluation.png": [f"evaluation/{source}" for source in all_sources(lines)],
        "training.png": [*rewards(lines), *FIXED],
    }
    written = []
    for name, metrics in wanted.items():
        there = [metric for metric in metrics if series(lines, metric, "tokens")]
        if there:
            _figure(lines, there, folder / name)
            written.append(folder / name)
    return written


def _figure(lines: Sequence[Compared], metrics: Sequence[str], path: Path) -> None:
    """A row a metric, a column for tokens and one for seconds; a line's runs share its colour."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(PANEL[0] * len(AGAINST), PANEL[1] * len(metrics)), layout="constrained")
    panels = figure.subplots(len(metrics), len(AGAINST), squeeze=False, sharex="col", sharey="row")
    colours = {line.name: f"C{number % 10}" for number, line in enumerate(lines)}
    for row, metric in zip(panels, metrics, strict=True):
        for panel, against in zip(row, AGAINST, strict=True):
            for name, curves in series(lines, metric, against).items():
                for number, (x, y) in enumerate(curves):
                    label = name if number == 0 else None
                    panel.plot(x, y, color=colours[name], label=label, linewidth=1.2, marker="o", markersize=2.5)
            panel.grid(alpha=0.3)
        row[0].set_ylabel(FIXED.get(metric, metric))
    for panel, label in zip(panels[-1], AGAINST.values(), strict=True):
        panel.set_xlabel(label)
    handles = {label: handle for panel in panels.flat for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)}
    figure.legend(list(handles.values()), list(handles), loc="outside upper center", ncols=min(len(handles), 4), fontsize="small")
    figure.savefig(path, dpi=120)
