"""``jackfield eval RUN or RECIPE``: greedy evaluation of a checkpoint, or of the model a recipe starts from."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jackfield.errors import UserError
from jackfield.recipe import find_recipe, load_recipe
from jackfield.recipe.read import show_path

if TYPE_CHECKING:
    from jackfield.plugins import Plugins
    from jackfield.report import StepReport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("what", help="a run folder (its newest checkpoint), or a recipe (the model it starts from)")
    parser.add_argument("--checkpoint", type=int, metavar="STEP", help="of a run: the checkpoint after so many steps")
    parser.add_argument("--model", metavar="PATH", help="the weights in this folder instead")
    parser.add_argument("--tasks", type=int, default=0, help="so many tasks of the test split; default all")
    parser.add_argument("--temperature", type=float, default=0.0, help="0 is greedy")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="change a value of the recipe")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers there")


def run(args: argparse.Namespace, plugins: Plugins) -> int:
    """Print the metrics; exit code 0."""
    from jackfield import chain, checkpoint
    from jackfield.evaluate import chosen_tasks, evaluate
    from jackfield.eventloop import one_loop
    from jackfield.run import load_for_sampling

    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    folder = Path(args.what)
    is_run = (folder / "recipe.toml").is_file()
    path = folder / "recipe.toml" if is_run else find_recipe(args.what)
    recipe = load_recipe(path, plugins, [*args.set, f"evaluate.tasks={args.tasks}"])
    if args.model:
        recipe = recipe.with_model_path(Path(args.model))
    elif is_run:
        recipe = recipe.with_model_path(checkpoint.chosen(folder, args.checkpoint) / "model")
    else:
        recipe = chain.ready(recipe, plugins, Path("runs"), print)
    corridor = recipe.corridor
    tasks = chosen_tasks(corridor, corridor.data.tasks("test"))
    if not corridor.engine.samples:
        raise UserError(
            f"{show_path(path)}: its engine plays recordings, so it has nothing to sample; evaluate its model by another recipe"
        )
    with one_loop(corridor.at_work) as run_async:
        _, players = load_for_sampling(corridor, run_async)
        report = evaluate(corridor, players, tasks, step=0, progress=_progress, temperature=args.temperature)
    sys.stderr.write("\n")
    _print(report)
    if args.json:
        args.json.write_text(json.dumps(dict(report.metrics), indent=1), encoding="utf-8")
    return 0


def _progress(phase: str, done: int, total: int) -> None:
    if done == total or done % 16 == 0:
        sys.stderr.write(f"\r{phase} {done}/{total}")
        sys.stderr.flush()


def _print(report: StepReport) -> None:
    for name, value in sorted(report.metrics.items()):
        print(f"{name.removeprefix('evaluation/'):40} {value:.4f}".rstrip("0").rstrip("."))
