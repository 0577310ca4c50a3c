"""Whose a run folder is: one run's at a time, and only its own recipe goes on with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jackfield import checkpoint, settings
from jackfield.errors import UserError
from jackfield.recipe.freeze import toml_value
from jackfield.words import counted

if TYPE_CHECKING:
    from jackfield.plugins import Plugins
    from jackfield.recipe import Recipe


def frozen_digest(folder: Path) -> str | None:
    """The digest of the recipe whose run the folder holds, as its frozen recipe says; None if it says none."""
    file = folder / "recipe.toml"
    if not file.is_file():
        return None
    with file.open(encoding="utf-8") as lines:
        return lines.readline().rstrip().rpartition("; digest ")[2] or None


@contextmanager
def only_run_in(folder: Path) -> Iterator[None]:
    """The folder, made if need be, for this process alone."""
    from filelock import FileLock, Timeout

    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout:
        raise UserError(f"{folder}: another process is running there; wait for it, or choose another folder with --out") from None
    finally:
        if made and {p.name for p in folder.iterdir()} <= {".lock"}:  # nothing was begun
            (folder / ".lock").unlink(missing_ok=True)
            folder.rmdir()


def starting_checkpoint(recipe: Recipe, plugins: Plugins, folder: Path, *, resume: bool) -> Path | None:
    """What to go on from, None for a fresh start. Raises UserError, saying what does go on, where this would not."""
    there = checkpoint.saved(folder)
    if not there:
        if resume:
            raise UserError(f"{folder}: nothing to resume, there is no checkpoint; leave out --resume to start")
        return None
    _require_same(recipe, plugins, folder)
    state, run = checkpoint.read_state(there[-1]), recipe.corridor.run
    if run.ends(state.step, state.sampled):
        raise UserError(f"{folder}: {_finished(run, folder, state)}; to run it again, choose another folder with --out")
    if not resume:
        done = f"{state.step} of {counted(run.steps, 'step')} done"
        raise UserError(f"{folder}: holds this run, {done}; add --resume to go on, or choose another folder with --out")
    return there[-1]


def _finished(run: settings.Run, folder: Path, state: checkpoint.State) -> str:
    """That a run is at its end, and how to make it longer."""
    if state.step < run.steps:
        more = f"for a larger one: --resume --out {folder} --set token_budget={2 * run.token_budget}"
        return f"this run is done, its token budget is spent; {more}"
    more = f"for more: --resume --out {folder} --set steps={2 * state.step or 1}"
    return f"this run is done, with {counted(state.step, 'step')}; {more}"


def _require_same(recipe: Recipe, plugins: Plugins, folder: Path) -> None:
    """Raises UserError unless the folder's run was made by this recipe, its length aside."""
    from jackfield.recipe import load_recipe

    length = [f"{key}={getattr(recipe.corridor.run, key)}" for key in ("steps", "token_budget")]
    there = load_recipe(folder / "recipe.toml", plugins, length)
    if there.digest == recipe.digest:
        return
    ours, theirs = dict(_leaves(recipe.frozen)), dict(_leaves(there.frozen))
    different = sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
    listed = "; ".join(f"{key}: {_shown(key, theirs)} there, {_shown(key, ours)} here" for key in different[:5])
    why = listed or "it starts from other weights"
    raise UserError(
        f"{folder}: holds the run of another recipe ({why}), which this one cannot resume; choose another folder with --out"
    )


def _shown(key: str, leaves: Mapping[str, Any]) -> str:
    return toml_value(leaves[key]) if key in leaves else "nothing"


def _leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted key → value of a frozen recipe, without what does not change results."""
    if path in ("versions", "origins", "title", "trackers", "evaluate", "checkpoint", "model.from"):
        return
    if isinstance(tree, Mapping) or (isinstance(tree, list) and any(isinstance(item, Mapping) for item in tree)):
        for key, item in tree.items() if isinstance(tree, Mapping) else enumerate(tree):
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    else:
        yield path, tree
