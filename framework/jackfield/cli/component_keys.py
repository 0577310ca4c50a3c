"""A component, its keys and an example of it, as ``jackfield explain`` writes them: in columns, and as TOML that can be pasted."""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from jackfield.component import HELP, PART
from jackfield.recipe.fields import annotation, recipe_keys
from jackfield.recipe.parts import LISTS, TABLES
from jackfield.registry import Entry

WIDEST = 44
"""Characters of a default in the table of keys; the example below it has all of it."""
LINE = 100
"""Characters of a text in the example before it goes on in the next line."""


def key_rows(cls: type[Any]) -> list[tuple[str, str, str]]:
    """Key, type with default, and help, of every key."""
    return [(key, _type(cls, field), _help(field)) for key, field in recipe_keys(cls).items()]


def _type(cls: type[Any], field: attrs.Attribute[Any]) -> str:
    name = f"one of {field.metadata[PART]}" if PART in field.metadata else _written(cls, field)
    if field.default is attrs.NOTHING:
        return f"{name}, required"
    default = "(none)" if _default(field) is None else toml(_default(field))
    return f"{name} = {default if len(default) <= WIDEST else f'{default[: WIDEST - 1]}…'}"


def _written(cls: type[Any], field: attrs.Attribute[Any]) -> str:
    """The type as its class writes it, but choices in full, for they may hide behind a name."""
    expected = annotation(cls, field.name)
    if typing.get_origin(expected) is typing.Literal:
        return " or ".join(map(toml, typing.get_args(expected)))
    return field.type if isinstance(field.type, str) else inspect.formatannotation(field.type)


def _help(field: attrs.Attribute[Any]) -> str:
    return " ".join(str(field.metadata.get(HELP, "")).split())


def _default(field: attrs.Attribute[Any]) -> Any:
    default: Any = field.default
    return default.factory() if isinstance(default, attrs.Factory) else default  # type: ignore[arg-type]


def example(entry: Entry, cls: type[Any]) -> list[str]:
    """TOML that names the component, every key at its default, with placeholders where the user must decide."""
    place = next((f"[{table}]" for table, kind in TABLES.items() if kind == entry.kind), None)
    place = place or next((f"[[{name}]]" for name, kind in LISTS.items() if kind == entry.kind), None)
    if place is None:
        required = {key: _placeholder(cls, field) for key, field in recipe_keys(cls).items() if field.default is attrs.NOTHING}
        return [f"# the value of a key that holds one of {entry.kind}", f"key = {toml({'use': entry.name} | required)}"]
    return [place, f"use = {toml(entry.name)}", *_incomplete(cls), *assignments(cls)]


def _incomplete(cls: type[Any]) -> list[str]:
    """A comment where the defaults alone are refused, by a rule of several keys (one of two must be given)."""
    if any(field.default is attrs.NOTHING for field in recipe_keys(cls).values()):
        return []
    try:
        cls()
    except ValueError as error:
        return [f"# {' '.join(str(error).split())}"]
    return []


def assignments(cls: type[Any]) -> list[str]:
    """Every key at its default, a line each."""
    lines = []
    for key, field in recipe_keys(cls).items():
        if field.default is attrs.NOTHING:
            lines.append(f"{key} = {toml(_placeholder(cls, field))}  # required")
        elif _default(field) is None:
            lines.append(f"# {key} = (none)")
        else:
            lines += _wrapped(key, _default(field))
    return lines


def _wrapped(key: str, value: Any) -> list[str]:
    """A long text over several lines, which TOML joins again."""
    written = toml(value)
    if not isinstance(value, str) or len(written) <= LINE:
        return [f"{key} = {written}"]
    lines = [f'{key} = """']
    # Each word with the space after it: a backslash at a line's end swallows what follows it, not what stands before it.
    for word in re.findall(r"^\s+|\S+\s*", written[1:-1]):
        if len(lines[-1]) + len(word) > LINE:
            lines[-1] += "\\"
            lines.append("")
        lines[-1] += word
    return [*lines[:-1], f'{lines[-1]}"""']


def _placeholder(cls: type[Any], field: attrs.Attribute[Any]) -> Any:
    """A value of the field's type (the string for a part)."""
    if field.metadata.get(PART):
        return "…"
    expected = annotation(cls, field.name)
    shape, arguments = typing.get_origin(expected), typing.get_args(expected)
    if shape is typing.Literal:
        return arguments[0]
    if shape is tuple:
        return ()
    if shape in (dict, Mapping):
        return {}
    return {bool: False, int: 0, float: 0.0}.get(expected, "…")


def toml(value: Any) -> str:
    """A value as TOML writes it, on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | Path):
        return json.dumps(str(value), ensure_ascii=False)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {toml(item)}' for key, item in value.items())}}}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(toml, value))}]"
    return repr(value)
