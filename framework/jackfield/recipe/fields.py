"""The value of a recipe key as the type its field declares. Strict: nothing is rounded, parsed or guessed."""

from __future__ import annotations

import inspect
import math
import os
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, Union, get_args, get_origin

import attrs

from jackfield.errors import Problem, nearest
from jackfield.recipe.tree import Node, Origin, plain, plant

INVALID: Final = object()
"""In place of a value that could not be converted; the problem is on the list."""

_WORDS = {bool: "true or false", int: "int", float: "float", str: "a string", Path: "a path as a string", type(None): "nothing"}


def recipe_keys(cls: type) -> dict[str, attrs.Attribute[Any]]:
    """Key → field, of everything a recipe may set on a component."""
    return {attribute.alias or attribute.name: attribute for attribute in attrs.fields(cls) if attribute.init}


def annotation(cls: type, name: str) -> Any:
    """The declared type of a field. Only this one is evaluated: others may name types that exist for type checkers only."""
    for owner in cls.__mro__:
        declared = inspect.get_annotations(owner).get(name)
        if isinstance(declared, str):
            return eval(declared, vars(sys.modules[owner.__module__]), dict(vars(owner)))
        if declared is not None:
            return declared
    raise TypeError(f"{cls.__qualname__}.{name} has no type")


def default_node(attribute: attrs.Attribute[Any], origin: Origin) -> Node | None:
    """A field's default as if the recipe had written it; None if there is none, or it is None."""
    default = attribute.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory()  # type: ignore[union-attr]
    return None if default is attrs.NOTHING or default is None else freeze(default, origin)


def freeze(value: Any, origin: Origin) -> Node:
    """A converted value back as a recipe would write it."""
    return plant(_writable(value), lambda _: origin)


def convert(expected: Any, node: Node, subject: str, problems: list[Problem]) -> Any:
    """``node`` as a value of type ``expected``, or INVALID with what is wrong added to ``problems``."""
    shape, arguments = get_origin(expected), get_args(expected)
    if shape in (Union, types.UnionType):
        return _convert_union(arguments, node, subject, problems)
    if shape is Literal:
        return _convert_choice(arguments, node, subject, problems)
    if shape is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        if not isinstance(node.value, list):
            return _mismatch(expected, node, subject, problems)
        return _all_valid(tuple(convert(arguments[0], item, f"{subject}.{i}", problems) for i, item in enumerate(node.value)))
    if shape in (dict, Mapping) and arguments[0] is str:
        if not isinstance(node.value, dict):
            return _mismatch(expected, node, subject, problems)
        converted = {key: convert(arguments[1], item, f"{subject}.{key}", problems) for key, item in node.value.items()}
        return INVALID if _all_valid(tuple(converted.values())) is INVALID else converted
    if expected not in _WORDS:
        raise TypeError(f"a recipe cannot hold a {expected}")
    return _convert_scalar(expected, node, subject, problems)


def _convert_scalar(expected: type, node: Node, subject: str, problems: list[Problem]) -> Any:
    found = type(node.value)
    if expected is float and found is int:
        return float(node.value)
    if expected is float and found is float and not math.isfinite(node.value):
        return _mismatch("a finite number", node, subject, problems)
    if expected is Path and found is str:
        return Path(os.path.normpath(Path.cwd() / node.origin.folder / Path(node.value).expanduser()))
    return node.value if found is expected else _mismatch(expected, node, subject, problems)


def _convert_union(choices: tuple[Any, ...], node: Node, subject: str, problems: list[Problem]) -> Any:
    """The first choice that fits. If none does: what is wrong with the only one worth naming, or that all differ."""
    attempts: list[list[Problem]] = []
    for choice in choices:
        attempt: list[Problem] = []
        value = convert(choice, node, subject, attempt)
        if value is not INVALID:
            return value
        if choice is not type(None):
            attempts.append(attempt)
    if len(attempts) == 1:
        problems += attempts[0]
        return INVALID
    return _mismatch(Union[choices], node, subject, problems)  # noqa: UP007  (built from a tuple)


def _convert_choice(choices: tuple[Any, ...], node: Node, subject: str, problems: list[Problem]) -> Any:
    for choice in choices:
        if type(choice) is type(node.value) and choice == node.value:
            return choice
    hint = nearest(str(node.value), map(str, choices))
    problems.append(Problem(node.origin.place, subject, f"{show(node)} is not a choice{hint}"))
    return INVALID


def _mismatch(expected: Any, node: Node, subject: str, problems: list[Problem]) -> Any:
    wanted = expected if isinstance(expected, str) else describe(expected)
    problems.append(Problem(node.origin.place, subject, f"expected {wanted}, found {show(node)}"))
    return INVALID


def describe(expected: Any) -> str:
    """A type in words."""
    shape, arguments = get_origin(expected), get_args(expected)
    if shape in (Union, types.UnionType):
        return " or ".join(describe(choice) for choice in arguments if choice is not type(None))
    if shape is Literal:
        return " or ".join(repr(choice) for choice in arguments)
    if shape is tuple:
        return f"an array, each entry {describe(arguments[0])}"
    if shape in (dict, Mapping):
        return f"a table, each value {describe(arguments[1])}"
    return _WORDS[expected]


def show(node: Node) -> str:
    """A value as the recipe wrote it, shortened."""
    value = plain(node)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return f"a table with {', '.join(value)}" if value else "an empty table"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _all_valid(values: tuple[Any, ...]) -> Any:
    return INVALID if any(value is INVALID for value in values) else values


def _writable(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _writable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(item) for item in value]
    return value
