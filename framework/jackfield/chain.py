"""Recipes that start from another recipe's result: run it first if its result is missing, reuse it if it is there.

A run's default folder carries a digest of what determines its result (``runs/<recipe>-<digest>``), so a result that is there
was made by the same recipe.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from jackfield import checkpoint
from jackfield.run import run

if TYPE_CHECKING:
    from jackfield.plugins import Plugins
    from jackfield.recipe import Recipe


def default_folder(recipe: Recipe, runs: Path) -> Path:
    """Where a recipe's run goes unless the user says otherwise."""
    return runs / f"{recipe.path.stem}-{recipe.digest[:8]}"


def finished(recipe: Recipe, folder: Path) -> Path | None:
    """The final checkpoint in ``folder``, if the recipe ran to its end."""
    there = checkpoint.saved(folder)
    if not there:
        return None
    state = checkpoint.read_state(there[-1])
    return there[-1] if recipe.corridor.run.ends(state.step, state.sampled) else None


def ready(recipe: Recipe, plugins: Plugins, runs: Path, say: Callable[[str], None]) -> Recipe:
    """The recipe with its starting weights in place, after running what it is chained from (resuming an unfinished run)."""
    for subject, source in recipe.chained.items():
        first = ready(source, plugins, runs, say)
        folder = default_folder(first, runs)
        final = finished(first, folder)
        if final is None:
            say(f"{recipe.path.name} starts from {first.path.name}: running it first, in {folder}")
            final = run(first, plugins, folder, resume=bool(checkpoint.saved(folder)))
        else:
            say(f"{recipe.path.name} starts from {first.path.name}: its result is there, {final}")
        recipe = recipe.with_checkpoint(subject, final)
    return recipe
