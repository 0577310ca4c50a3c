"""Whose a run folder is: one run's at a time, and only its own recipe goes on with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jackfield import checkpoint
from jackfield.errors import UserError

if TYPE_CHECKING:
    from jackfield.plugins import Plugins
    from jackfield.recipe import Recipe


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
    """What to go on from, None for a fresh start."""
    there = checkpoint.saved(folder)
    if not there:
        if resume:
            raise UserError(f"{folder}: nothing to resume, there is no checkpoint; leave out --resume to start")
        return None
    state = checkpoint.read_state(there[-1])
    done = state.step
    if not resume:
        raise UserError(
            f"{folder}: holds a run of {done} steps already; add --resume to go on, or choose another folder with --out"
        )
    _require_same(recipe, plugins, folder)
    run = recipe.corridor.run
    if not run.ends(done, state.sampled):
        return there[-1]
    if done < run.steps:
        more = f"--resume --out {folder} --set token_budget={2 * run.token_budget}"
        raise UserError(f"{folder}: the token budget is spent, nothing to resume; for a larger one: {more}")
    more = f"--resume --out {folder} --set steps={2 * done or 1}"
    raise UserError(f"{folder}: all {done} steps are done, nothing to resume; for more steps: {more}")


def _require_same(recipe: Recipe, plugins: Plugins, folder: Path) -> None:
    """Raises UserError unless the folder's run was made by this recipe, its length aside."""
    from jackfield.recipe import load_recipe

    there = load_recipe(folder / "recipe.toml", plugins, [f"{key}={getattr(recipe.corridor.run, key)}" for key in ("steps", "token_budget")])
    if there.digest == recipe.digest:
        return
    ours, theirs = dict(_leaves(recipe.frozen)), dict(_leaves(there.frozen))
    different = sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
    listed = "; ".join(f"{key}: {theirs.get(key)!r} there, {ours.get(key)!r} here" for key in different[:5])
    raise UserError(
        f"{folder}: its run was made by another recipe and cannot be resumed by this one ({listed or 'it starts from other weights'})"
    )


def _leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted key → value of a frozen recipe, without what does not change results."""
    if path in ("versions", "origins", "title", "trackers", "evaluate", "checkpoint", "model.from"):
        return
    if isinstance(tree, Mapping) or (isinstance(tree, list) and any(isinstance(item, Mapping) for item in tree)):
        for key, item in tree.items() if isinstance(tree, Mapping) else enumerate(tree):
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    else:
        yield path, tree
