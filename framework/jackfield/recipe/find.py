"""Recipe files by path, or by the name of one that comes with Jackfield."""

from __future__ import annotations

from pathlib import Path

from jackfield.errors import Problem, RecipeError, closest
from jackfield.shipped import shipped


def find_recipe(text: str, folder: Path = Path(), asked_at: str = "") -> Path:
    """``text`` as a file, relative to ``folder``, with or without its ``.toml``, else the shipped recipe of that name. ``asked_at`` is the
    place that says so.

    Raises RecipeError naming the nearest that there is.
    """
    path = folder / Path(text).expanduser()
    for file in (path, path.with_name(f"{path.name}.toml")) if path.name else ():
        if file.is_file():
            return file
    come_along = shipped()
    if text in come_along:
        return come_along[text]
    if (path / "recipe.toml").is_file():
        raise RecipeError(Problem(asked_at, text, f"is the folder of a run; its recipe is {Path(text) / 'recipe.toml'}"))
    beside = {file.stem: str(Path(text).parent / file.name) for file in path.parent.glob("*.toml")}
    near = closest(path.stem, beside) if path.suffix else None
    near = near or closest(path.stem, [*come_along, *beside])
    hint = "" if near is None else f"; did you mean '{beside.get(near, near)}'?"
    message = f"no such recipe file, and none that comes with Jackfield has this name{hint} (jackfield recipes lists them)"
    raise RecipeError(Problem(asked_at, text, message))
