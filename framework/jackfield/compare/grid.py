"""Which runs are compared, and how those that are missing come about.

A **grid** is a TOML file beside recipes::

    cells = ["rm_ppo.toml", "rm_grpo.toml", "dpo.toml"]   # recipes: files beside it, or names of shipped ones
    seeds = [0, 1]                                        # each cell once per seed; left out: the recipe's own
    set = ["steps=100"]                                   # --set for every cell
    evaluated_by = "r1_grpo.toml"                         # this recipe's test split, environment and rewards score every cell

Every run is made by a process of its own, so that its time and memory are its own, in the folder where ``jackfield run`` would put it:
what is finished is found again, and what was stopped goes on.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from jackfield import chain, checkpoint
from jackfield.errors import Interrupted, Problem, UserError, nearest
from jackfield.recipe import Recipe, find_recipe, load_recipe

if TYPE_CHECKING:
    from jackfield.plugins import Plugins

KEYS: dict[str, type] = {"cells": str, "seeds": int, "set": str}
"""Lists, and of what; beside them ``evaluated_by``, a single text."""

Say = Callable[[str], None]


@frozen(kw_only=True)
class Planned:
    """One run to be made of a recipe."""

    path: Path
    overrides: tuple[str, ...] = ()
    smoke: bool = False
    evaluated_by: Path | None = None

    def recipe(self, plugins: Plugins) -> Recipe:
        """Loaded and checked."""
        return load_recipe(self.path, plugins, self.overrides, smoke=self.smoke)

    @property
    def arguments(self) -> list[str]:
        """For ``jackfield run`` and ``jackfield eval``."""
        return [word for override in self.overrides for word in ("--set", override)]


@frozen(kw_only=True)
class Entry:
    """One line of the comparison: a run that is there, or a recipe with one run a seed."""

    name: str
    runs: tuple[Path | Planned, ...]


def entries(asked: Sequence[str], overrides: Sequence[str], *, smoke: bool) -> list[Entry]:
    """What the command line names: run folders, recipes and grids.

    Raises UserError for what is none of these, and for a grid with mistakes.
    """
    found: list[Entry] = []
    for what in asked:
        folder = Path(what)
        if (folder / "recipe.toml").is_file():
            found.append(Entry(name=folder.resolve().name, runs=(folder,)))
            continue
        path = find_recipe(what)
        values = _toml(path)
        if "cells" in values:
            found += _of_grid(path, values, overrides, smoke)
        else:
            found.append(Entry(name=path.stem, runs=(Planned(path=path, overrides=tuple(overrides), smoke=smoke),)))
    return [Entry(name=name, runs=entry.runs) for name, entry in zip(_unique([e.name for e in found]), found, strict=True)]


@frozen(kw_only=True)
class Maker:
    """Makes runs that are missing, each in a process of its own."""

    plugins: Plugins
    say: Say
    runs: Path = Path("runs")
    switches: tuple[str, ...] = ()
    """``--plugin`` and ``--no-plugin`` as this process was given them."""
    failed: list[Problem] = field(factory=list)

    def bring(self, entry: Entry) -> list[tuple[Path, Path | None]]:
        """The folders of the entry's runs, each with the file of its evaluation by another recipe, if it has one. A run that ends in an
        error is left out and noted in ``failed``."""
        found: list[tuple[Path, Path | None]] = []
        for run in entry.runs:
            if isinstance(run, Path):
                found.append((run, None))
                continue
            try:
                recipe = run.recipe(self.plugins)
                if links := chain.missing(recipe, self.runs):
                    chain.require_playable([*links, recipe], self.runs)
                folder = self._trained(recipe, run)
                found.append((folder, self._evaluated(recipe, run, folder)))
            except ChildProcessError as error:
                self.failed.append(Problem(entry.name, " ".join(run.overrides), str(error)))
        return found

    def _trained(self, recipe: Recipe, run: Planned) -> Path:
        """The run's folder, after running what is missing, its sources first."""
        folder = chain.home(recipe, self.runs)
        if chain.finished(recipe, folder) is not None:
            self.say(f"{folder}: is there")
            return folder
        for source in recipe.chained.values():
            self._trained(source, Planned(path=source.path, smoke=run.smoke))
        self.say(f"{folder}: running {run.path.name} {' '.join(run.overrides)}".rstrip())
        resume = ["--resume"] if checkpoint.saved(folder) else []
        self._jackfield(["run", str(run.path), *run.arguments, *(["--smoke"] if run.smoke else []), "--out", str(folder), *resume])
        return folder

    def _evaluated(self, recipe: Recipe, run: Planned, folder: Path) -> Path | None:
        """See that there are scores of the final checkpoint; gives their file if another recipe made them."""
        final = chain.finished(recipe, folder)
        if final is None:
            raise ChildProcessError("ended without its final checkpoint")
        if run.evaluated_by is not None:
            return self._evaluated_by(run.evaluated_by, folder, final, smoke=run.smoke)
        kept = [folder / f"rollouts/evaluation-{final.name[-6:]}.jsonl", folder / f"evaluations/{final.name}-greedy.json"]
        wanted = recipe.corridor.evaluate.enabled and recipe.corridor.engine.samples
        if wanted and not any(path.is_file() for path in kept):
            self.say(f"{folder}: evaluating")
            self._jackfield(["eval", str(folder)])
        return None

    def _evaluated_by(self, path: Path, folder: Path, final: Path, *, smoke: bool) -> Path:
        judge = load_recipe(path, self.plugins, smoke=smoke)
        file = folder / f"evaluations/{final.name}-by-{path.stem}-{judge.digest[:8]}.json"
        if not file.is_file():
            self.say(f"{folder}: evaluating by {path.name}")
            judge.write_frozen(file.parent / f"by-{path.stem}-{judge.digest[:8]}")
            frozen_judge = file.parent / f"by-{path.stem}-{judge.digest[:8]}" / "recipe.toml"
            self._jackfield(["eval", str(frozen_judge), "--model", str(final / "model"), "--json", str(file)])
        return file

    def _jackfield(self, arguments: Sequence[str]) -> None:
        """Raises ChildProcessError if it fails, Interrupted if it was stopped. Ctrl-C reaches the child, which knows how to stop."""
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            code = subprocess.Popen([sys.executable, "-m", "jackfield", *arguments, *self.switches]).wait()
        finally:
            signal.signal(signal.SIGINT, before)
        if code == 130:
            raise Interrupted("stopped; the same command goes on from here")
        if code:
            raise ChildProcessError(f"jackfield {arguments[0]} ended with exit code {code}")


def switches(plugins: Plugins) -> tuple[str, ...]:
    """The options that load these plugins in another process. Ask before a recipe adds files of its own."""
    files = [known.value for known in plugins.loaded if known.distribution is None and Path(known.value).is_absolute()]
    off = [name for name, why in plugins.absent.items() if why.endswith("--no-plugin")]
    return (*(word for file in files for word in ("--plugin", file)), *(word for name in off for word in ("--no-plugin", name)))


def _of_grid(path: Path, values: dict[str, Any], overrides: Sequence[str], smoke: bool) -> Iterator[Entry]:
    _require_sound(path, values)
    shared = (*values.get("set", ()), *overrides)
    judge = find_recipe(values["evaluated_by"], path.parent, str(path)) if "evaluated_by" in values else None
    seeds: list[tuple[str, ...]] = [(f"seed={seed}",) for seed in values.get("seeds", ())] or [()]
    for cell in values["cells"]:
        recipe = find_recipe(cell, path.parent, str(path))
        runs = [Planned(path=recipe, overrides=(*shared, *seed), smoke=smoke, evaluated_by=judge) for seed in seeds]
        yield Entry(name=recipe.stem, runs=tuple(runs))


def _require_sound(path: Path, values: dict[str, Any]) -> None:
    problems = []
    for key, value in values.items():
        if key == "evaluated_by":
            if not isinstance(value, str):
                problems.append(Problem(str(path), key, f"expected the path of a recipe, found {value!r}"))
        elif key not in KEYS:
            problems.append(Problem(str(path), key, f"unknown key of a grid{nearest(key, [*KEYS, 'evaluated_by'])}"))
        elif not isinstance(value, list) or not value or not all(type(item) is KEYS[key] for item in value):
            problems.append(Problem(str(path), key, f"expected a list of {KEYS[key].__name__}, found {value!r}"))
    if problems:
        raise UserError(problems)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(Problem(str(path), "", f"not valid TOML: {error}")) from None


def _unique(names: Sequence[str]) -> list[str]:
    """``a, a`` → ``a, a#2``"""
    return [name if (before := names[:i].count(name)) == 0 else f"{name}#{before + 1}" for i, name in enumerate(names)]
