"""Recipes that start from another recipe's result: run it first if its result is missing, reuse it if it is there.

A result is known by its recipe's digest, which covers everything that determines it and stands in the frozen recipe of its folder.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from jackfield import checkpoint
from jackfield.errors import Problem, UserError
from jackfield.preflight import playable_tasks
from jackfield.recipe.fields import recipe_keys
from jackfield.recipe.read import show_path
from jackfield.run import run
from jackfield.run_folder import frozen_digest

if TYPE_CHECKING:
    from jackfield.corridor import Corridor
    from jackfield.plugins import Plugins
    from jackfield.recipe import Recipe


def default_folder(recipe: Recipe, runs: Path) -> Path:
    """Where a recipe's run goes unless the user says otherwise."""
    return runs / f"{recipe.path.stem}-{recipe.digest[:8]}"


def home(recipe: Recipe, runs: Path) -> Path:
    """The folder in ``runs`` that holds the recipe's run, a finished one if there is one, whatever the folder's or the recipe file's
    name; else where its run will go."""
    default = default_folder(recipe, runs)
    folders = dict.fromkeys([default, *sorted(file.parent for file in runs.glob("*/recipe.toml"))])
    there = [folder for folder in folders if checkpoint.saved(folder) and frozen_digest(folder) == recipe.digest]
    if there:
        return next((folder for folder in there if finished(recipe, folder)), there[0])
    # A run that was made longer keeps its folder, whose name is then that of the shorter one.
    return runs / f"{recipe.path.stem}-{recipe.digest[:16]}" if checkpoint.saved(default) else default


def finished(recipe: Recipe, folder: Path) -> Path | None:
    """The final checkpoint in ``folder``, which holds the recipe's run, if it ran to its end."""
    there = checkpoint.saved(folder)
    if not there:
        return None
    state = checkpoint.read_state(there[-1])
    return there[-1] if recipe.corridor.run.ends(state.step, state.sampled) else None


def result(recipe: Recipe, runs: Path) -> Path | None:
    """The recipe's final checkpoint, if its run is in ``runs`` and finished."""
    return finished(recipe, home(recipe, runs))


def ready(recipe: Recipe, plugins: Plugins, runs: Path, say: Callable[[str], None], *, without: Collection[str] = ()) -> Recipe:
    """The recipe with the weights that it starts from in place, after running what is missing (resuming an unfinished run).

    ``without``: tables whose components stay as they are (``critic`` where nothing is trained).
    """
    for subject, source in _sources(recipe, without):
        final, name = result(source, runs), _called(source)
        if final is None:
            source = ready(source, plugins, runs, say)
            folder = home(source, runs)
            say(f"{_called(recipe)} starts from {name}: running it first, in {folder}")
            final = run(source, plugins, folder, resume=bool(checkpoint.saved(folder)))
        else:
            say(f"{_called(recipe)} starts from {name}: its result is there, {final}")
        recipe = recipe.with_checkpoint(subject, final)
    return recipe


def missing(recipe: Recipe, runs: Path, *, without: Collection[str] = ()) -> list[Recipe]:
    """The recipes that ``ready`` would run, in their order."""
    found: dict[str, Recipe] = {}
    for _, source in _sources(recipe, without):
        if result(source, runs) is None:
            found |= {link.digest: link for link in [*missing(source, runs), source]}
    return list(found.values())


def with_training_rows(recipe: Recipe, runs: Path) -> Recipe:
    """The recipe, and all that it starts from, with the rollouts that they take their rows from in place.

    Raises UserError where such rollouts are gone.
    """
    recipe = evolve(recipe, chained={subject: with_training_rows(source, runs) for subject, source in recipe.chained.items()})
    for subject, source in recipe.chained.items():
        if not _is_of(subject, ["data"]) or not recipe.corridor.run.steps:
            continue
        final = result(source, runs)
        if final is None:
            place, found = str(recipe.parts.single["data"].place("from")), f"their run of {_called(source)} is not in {runs}"
            raise UserError(Problem(place, f"{subject}.from", f"the rows that were trained on cannot be read again: {found}"))
        recipe = recipe.with_checkpoint(subject, final)
    return recipe


def require_playable(links: Sequence[Recipe], runs: Path) -> None:
    """Raises UserError with all rows that cannot be played and all files that are missing, of any link of a chain: said before the first
    one trains, and not when a later one's turn comes. Rows out of rollouts that another link has yet to make are left for later."""
    problems: list[Problem] = []
    for link in links:
        problems += _absent(link)
        corridor = _with_rows(link, runs)
        try:
            if corridor is not None:
                playable_tasks(corridor)
        except UserError as error:
            problems += [evolve(problem, place=problem.place or show_path(link.path)) for problem in error.problems]
    if problems:
        raise UserError(list(dict.fromkeys(problems)))


def _with_rows(link: Recipe, runs: Path) -> Corridor | None:
    """What its rows are checked with: the tokenizer that its weights will come with is that of the model the chain begins with."""
    first = link
    while "model" in first.chained:
        first = first.chained["model"]
    for subject, source in link.chained.items():
        if _is_of(subject, ["data"]):
            final = result(source, runs)
            if final is None:
                return None
            link = link.with_checkpoint(subject, final)
    return evolve(link.corridor, model=first.corridor.model)


def _absent(link: Recipe) -> Iterator[Problem]:
    """Files and folders that components' keys name and that are not there. What holds a colon is the name of something in a file, which
    its component has looked for; what a tracker names, it writes."""
    for placed in link.parts.every:
        if _is_of(placed.subject, ["trackers"]) or "from" in placed.node.value:
            continue
        for key, attribute in recipe_keys(type(placed.part)).items():
            value = getattr(placed.part, attribute.name)
            for path in value if isinstance(value, tuple) else (value,):
                if isinstance(path, Path) and ":" not in path.name and not path.exists():
                    yield Problem(placed.place(key), f"{placed.subject}.{key}", f"{show_path(path)} is not there")


def _sources(recipe: Recipe, without: Collection[str]) -> Iterator[tuple[str, Recipe]]:
    return ((subject, source) for subject, source in recipe.chained.items() if not _is_of(subject, without))


def _is_of(subject: str, tables: Collection[str]) -> bool:
    """Whether the component at this place is that of one of the tables, or a part of it."""
    return subject.partition(".")[0] in tables


def _called(recipe: Recipe) -> str:
    """By its file, or its title where it is frozen: all of those files have the same name."""
    return recipe.corridor.run.title if recipe.path.name == "recipe.toml" else recipe.path.name
