"""``jackfield run RECIPE``: run it to its last step, or resume it."""

from __future__ import annotations

import argparse
import logging
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jackfield.errors import Interrupted
from jackfield.recipe import Recipe, find_recipe, load_recipe

if TYPE_CHECKING:
    from jackfield.plugins import Plugins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("recipe", help="a recipe file, or the name of one that comes with Jackfield (grpo_sums)")
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="change a value: --set losses.0.clip_low=0.1"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="the run folder (default: runs/<recipe>-<digest>, where a recipe that this one starts from goes in any case)",
    )
    parser.add_argument("--resume", action="store_true", help="go on from the run folder's newest checkpoint")
    parser.add_argument(
        "--smoke",
        action="store_true",
        help="the same code path in seconds: a tiny random model, tiny data, two steps, and one more reward, which means nothing; what --set "
        "says stays. A random model writes no tags, so nothing that is sampled calls a tool",
    )


def run(args: argparse.Namespace, plugins: Plugins) -> int:
    """Exit code 0 when the last step is done, 130 when it was stopped before."""
    recipe = load_recipe(find_recipe(args.recipe), plugins, args.set, smoke=args.smoke)
    say(f"loading {recipe.corridor.run.title}")  # torch takes its time, and models theirs
    from jackfield import chain
    from jackfield import run as runs

    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    there = Path("runs")
    folder = args.out or chain.default_folder(recipe, there)
    if links := chain.missing(recipe, there):
        chain.require_playable([*links, recipe], there)
    try:
        final = runs.run(chain.ready(recipe, plugins, there, say), plugins, folder, resume=args.resume)
    except (Interrupted, KeyboardInterrupt) as stopped:
        _say_how_to_go_on(recipe, folder, stopped, args.argv)
        return 130
    say(f"run folder   {folder}")
    say(f"final model  {final / 'model'}  (loads with transformers)")
    say(f"look inside  jackfield show {folder}")
    return 0


def _say_how_to_go_on(recipe: Recipe, folder: Path, stopped: BaseException, argv: Sequence[str]) -> None:
    from jackfield import chain, checkpoint

    told, saved = str(stopped), checkpoint.saved(folder)
    if told:
        say(told)
    if (saved or told) and chain.finished(recipe, folder) is None:  # told, but nothing saved: a recipe that this one starts from
        words = [word for word in argv if word != "--resume"] + ["--resume"] * bool(saved)
        say(f"go on        jackfield {shlex.join(words)}")
    if saved:
        say(f"look inside  jackfield show {folder}")


def say(text: str) -> None:
    """A line to the user."""
    print(text, flush=True)
