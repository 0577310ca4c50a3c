"""Figures with their intervals as rows of text, and those as a table in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jackfield.result import Estimate, Line
    from jackfield.statistics import Paired

MOST_VALUES = 8
"""A label with more values than this is left to the JSON: its rows would bury the rest."""
WIDTH = 200
"""Columns of a table that goes to a file or pipe."""


def summary_rows(lines: Sequence[Line], samples: int) -> list[list[str]]:
    """A header and a row for every label and source."""
    values = Counter(label.partition("=")[0] for label in {line.label for line in lines})
    ks = sorted({k for line in lines for k in line.pass_at})
    unscored = any(line.unscored for line in lines)
    header = ["", "source", "tasks", f"mean@{samples}" if samples > 1 else "mean", *(f"pass@{k}" for k in ks)]
    rows = [[*header, *(["unscored"] if unscored else [])]]
    for line in lines:
        if values[line.label.partition("=")[0]] <= MOST_VALUES:
            figures = [estimate(line.mean), *(estimate(line.pass_at.get(k)) for k in ks)]
            rows.append([line.label or "all", line.source, str(line.tasks), *figures, *([str(line.unscored)] if unscored else [])])
    return rows


def paired_rows(found: Mapping[str, Paired]) -> list[list[str]]:
    """A header and a row for every source."""
    rows = [["source", "tasks", "theirs", "ours", "difference", "only theirs", "only ours", "p", "test"]]
    for source, pair in found.items():
        difference = f"{pair.difference:+.3f} [{pair.interval.low:+.3f}, {pair.interval.high:+.3f}]"
        split = [str(pair.only_first), str(pair.only_second)]
        means = [f"{pair.first:.3f}", f"{pair.second:.3f}"]
        rows.append([source, str(pair.tasks), *means, difference, *split, p_value(pair.p), pair.test])
    return rows


def estimate(found: Estimate | None) -> str:
    """``0.412 [0.387, 0.437]``"""
    if found is None:
        return "–"
    around = "" if found.low is None else f" [{found.low:.3f}, {found.high:.3f}]"
    return f"{found.value:.3f}{around}"


def p_value(p: float) -> str:
    """Two significant digits."""
    return f"{p:.2g}" if p >= 0.0001 else "<0.0001"


def table(rows: Sequence[Sequence[str]]) -> None:
    """Print the first row as the header of the others."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDTH, color_system=None)
    header, *body = rows
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for name in header:
        drawn.add_column(Text(name), no_wrap=True)
    for row in body:
        drawn.add_row(*map(Text, row))
    console.print(drawn)
