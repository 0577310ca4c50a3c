"""``jackfield run RECIPE``: run it to its last step, or resume it."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jackfield.recipe import find_recipe, load_recipe

if TYPE_CHECKING:
    from jackfield.plugins import Plugins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("recipe", help="a recipe file, or the name of one that comes with Jackfield (grpo_sums)")
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="change a value: --set losses.0.clip_low=0.1"
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="the run folder (default: runs/<recipe>-<digest>)")
    parser.add_argument("--resume", action="store_true", help="go on from the run folder's newest checkpoint")
    parser.add_argument(
        "--smoke", action="store_true", help="the same code path in seconds: a tiny random model, tiny data, two steps"
    )


def run(args: argparse.Namespace, plugins: Plugins) -> int:
    """Exit code 0 when the last step is done."""
    from jackfield import chain
    from jackfield import run as runs

    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    recipe = load_recipe(find_recipe(args.recipe), plugins, args.set, smoke=args.smoke)
    folder = args.out or chain.default_folder(recipe, Path("runs"))
    final = runs.run(chain.ready(recipe, plugins, Path("runs"), say), plugins, folder, resume=args.resume)
    say(f"run folder   {folder}")
    say(f"final model  {final / 'model'}  (loads with transformers)")
    say(f"look inside  jackfield show {folder}")
    return 0


def say(text: str) -> None:
    """A line to the user."""
    print(text, flush=True)
