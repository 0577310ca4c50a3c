"""Recipe files by path, or by the name of one that comes with Jackfield."""

from __future__ import annotations

from pathlib import Path

from jackfield.errors import RecipeError, nearest

_SHIPPED = (Path(__file__).parents[1] / "recipes", Path(__file__).parents[3] / "recipes")
"""In an installed package, and in a checkout."""


def find_recipe(text: str) -> Path:
    """``text`` as a file, else the shipped recipe of that name.

    Raises RecipeError naming the nearest shipped recipe.
    """
    path = Path(text).expanduser()
    if path.is_file():
        return path
    shipped = {file.stem: file for folder in _SHIPPED for file in sorted(folder.glob("*.toml"))}
    if text in shipped:
        return shipped[text]
    raise RecipeError(f"{text}: no such recipe file, and none that comes with Jackfield has this name{nearest(path.stem, shipped)}")
