"""Recipe files and ``--set`` to one tree: TOML, ``extends``, overrides. What the keys mean is decided later."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from jackfield.errors import Problem, RecipeError
from jackfield.recipe.find import find_recipe
from jackfield.recipe.parts import LISTS
from jackfield.recipe.positions import positions
from jackfield.recipe.tree import Node, Origin, TargetError, assign, merge, plant

DEFAULTS: dict[str, Any] = {
    "engine": {"use": "torch"},
    "optimizer": {"use": "adamw"},
    "trackers": [{"use": "console"}, {"use": "metrics_jsonl"}, {"use": "rollouts_jsonl"}],
}
"""What every recipe extends in the end."""


def read(path: Path, overrides: Sequence[str] = (), asked_at: str = "") -> tuple[Node, list[Problem]]:
    """The recipe at ``path`` over its parents over DEFAULTS, with ``overrides`` (``"a.b=c"``) applied last; and which could not be.

    ``asked_at`` is the place that named the recipe, if another did. Raises RecipeError where nothing can be read: a file is missing
    or not TOML, ``extends`` goes in a circle.
    """
    origin = Origin("default", path.parent)
    tree = merge(plant(DEFAULTS, lambda _: origin), _with_parents(path, (), asked_at))
    if "cells" in tree.value:
        message = f"is a grid of recipes, not a recipe; run them with: jackfield compare {path}"
        raise RecipeError(Problem(tree.value["cells"].origin.place, "cells", message))
    problems = []
    for override in overrides:
        try:
            tree = _override(tree, override)
        except TargetError as error:
            problems.append(error.problem)
    return tree, problems


def replaced_lists(path: Path) -> Iterator[tuple[str, Node, Node]]:
    """Key, list and the list of a recipe below that it takes the place of, for the recipe at ``path``, which can be read, and those it
    extends: tables are laid over each other, lists are not."""
    above: dict[str, Node] = {}
    told: set[str] = set()
    while True:
        tree = read_file(path)
        for key in LISTS:
            node = tree.value.get(key)
            if node is not None and isinstance(node.value, list) and key not in told:
                if key in above and node.value:
                    told.add(key)
                    yield key, above[key], node
                above.setdefault(key, node)
        parent = tree.value.get("extends")
        if parent is None:
            return
        path = find_recipe(parent.value, path.parent, parent.origin.place)


def read_file(path: Path, asked_at: str = "") -> Node:
    """One TOML file as a tree. ``asked_at`` is the place that named the file, for the message if it is missing."""
    shown = show_path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise RecipeError(Problem(asked_at, shown, "no such recipe")) from None
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError(Problem(asked_at, shown, f"cannot be read: {error}")) from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(_syntax_problem(shown, text, str(error))) from None
    lines = positions(text)
    return plant(values, lambda key_path: Origin(f"{shown}:{lines.get(key_path, 1)}", path.parent))


def show_path(path: Path) -> str:
    """As short as it can be read: relative to the working directory if it lies below it."""
    absolute = Path(os.path.normpath(Path.cwd() / path))
    return str(absolute.relative_to(Path.cwd()) if absolute.is_relative_to(Path.cwd()) else absolute)


def _with_parents(path: Path, children: tuple[Path, ...], asked_at: str = "") -> Node:
    """``path`` over the recipes it extends; ``children`` are those that led here."""
    if path.resolve() in children:
        circle = [*children[children.index(path.resolve()) :], path.resolve()]
        raise RecipeError(Problem(asked_at, "extends", f"goes in a circle: {' → '.join(map(show_path, circle))}"))
    tree = read_file(path, asked_at)
    parent = tree.value.pop("extends", None)
    if parent is None:
        return tree
    if not isinstance(parent.value, str):
        raise RecipeError(
            Problem(parent.origin.place, "extends", f"expected the path or name of one recipe, found {parent.value!r}")
        )
    parent_path = find_recipe(parent.value, path.parent, parent.origin.place)
    below = _with_parents(parent_path, (*children, path.resolve()), parent.origin.place)
    model = tree.value.get("model")
    return merge(_make_room(below, model.value if model is not None and model.is_table else ()), tree)


def _make_room(below: Node, keys_of_model: Iterable[str]) -> Node:
    """Without what the new keys of [model] take the place of: weights have either a ``path`` or a recipe they come ``from``."""
    model, given = below.value.get("model"), {"path", "from"}.intersection(keys_of_model)
    if not given or model is None or not model.is_table:
        return below
    kept = {key: node for key, node in model.value.items() if key in given or key not in ("path", "from")}
    return Node(below.value | {"model": Node(kept, model.origin)}, below.origin)


def _override(tree: Node, override: str) -> Node:
    target, equals, text = override.partition("=")
    keys = [key.strip() for key in target.split(".")]
    if not equals or not all(keys):
        raise TargetError(Problem("--set", override, "expected KEY=VALUE, e.g. learn.epochs=2 or losses.0.weight=0.1"))
    if keys == ["extends"]:
        raise TargetError(Problem("--set", "extends", "is only read from recipe files; extend it in a recipe of your own"))
    origin = Origin("--set", Path())
    tree = _make_room(tree, keys[1:] if keys[0] == "model" else ())
    return assign(tree, keys, plant(_override_value(text.strip()), lambda _: origin))


def _override_value(text: str) -> Any:
    """A TOML value, or else the text itself (so that names and paths need no quotes)."""
    try:
        values = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return values["value"] if values.keys() == {"value"} else text


def _syntax_problem(shown: str, text: str, message: str) -> Problem:
    found = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if found is None:  # "… (at end of document)"
        return Problem(f"{shown}:{text.count(chr(10)) + 1}", "", f"not valid TOML: {message}")
    line, column = found.groups()
    told = f"not valid TOML: {message[: found.start()]} (column {column})"
    header = re.match(r"\s*\[+\s*(\w+)\s*\]", text.splitlines()[int(line) - 1])
    if header is not None and header[1] in LISTS:  # [losses] and another [losses], or [[losses]], after it
        told += f"; {header[1]} is a list: write [[{header[1]}]] with double brackets, each time"
    return Problem(f"{shown}:{line}", "", told)
