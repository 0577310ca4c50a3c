"""``jackfield compare WHAT…``: runs side by side, those that are missing made first."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jackfield.errors import UserError

if TYPE_CHECKING:
    from jackfield.compare.table import Compared
    from jackfield.plugins import Plugins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("what", nargs="+", help="run folders, recipes (run first, or found in runs/), grids (files with 'cells')")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="change a value of every recipe")
    parser.add_argument("--smoke", action="store_true", help="recipes in small, as jackfield run --smoke makes them")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where the comparison goes (default: comparisons/<name>)")


def run(args: argparse.Namespace, plugins: Plugins) -> int:
    """Exit code 0 when everything asked for is in the table; 1 if a run failed, with the others in the table."""
    from jackfield.compare import grid
    from jackfield.compare.record import read_run
    from jackfield.compare.table import Compared

    switches = grid.switches(plugins)
    entries = grid.entries(args.what, args.set, smoke=args.smoke)
    for entry in entries:  # every mistake in a recipe shows before the first run
        for planned in entry.runs:
            if isinstance(planned, grid.Planned):
                planned.recipe(plugins)
    maker = grid.Maker(plugins=plugins, say=_say, switches=switches)
    lines = []
    for number, entry in enumerate(entries, 1):
        _say(f"── {number}/{len(entries)}  {entry.name} ──")
        runs = [read_run(folder, plugins, evaluated) for folder, evaluated in maker.bring(entry)]
        if runs:
            lines.append(Compared(name=entry.name, runs=tuple(runs)))
    if lines:
        _write(lines, args.out or Path("comparisons") / _name(args.what))
    for problem in maker.failed:
        print(f"jackfield: {problem}", file=sys.stderr)
    return 1 if maker.failed else 0


def _name(asked: list[str]) -> str:
    """``grid``, or ``first-and-2-more``."""
    first = Path(asked[0])
    stem = first.resolve().name if first.is_dir() else first.stem
    return stem if len(asked) == 1 else f"{stem}-and-{len(asked) - 1}-more"


def _write(lines: list[Compared], folder: Path) -> None:
    from jackfield.compare import plots, table

    if folder.is_file():
        raise UserError(f"{folder}: is a file; choose another place with --out")
    folder.mkdir(parents=True, exist_ok=True)
    text = table.markdown(folder.name, lines)
    (folder / "table.md").write_text(text, encoding="utf-8")
    table.write_json(folder / "table.json", lines)
    _say(text)
    written = [folder / "table.md", folder / "table.json"]
    try:
        written += plots.draw(lines, folder)
    except ImportError as error:
        _say(f"no plots: matplotlib cannot be imported ({error}); install it with: pip install 'jackfield[compare]'")
    for path in written:
        _say(f"written  {path}")


def _say(text: str) -> None:
    print(text, flush=True)
