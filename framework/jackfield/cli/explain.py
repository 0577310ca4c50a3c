"""``jackfield explain losses.ppo_clip``: everything about one component. The only listing command that imports what it lists."""

from __future__ import annotations

import argparse
import inspect
import json
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from jackfield.cli.columns import columns
from jackfield.component import HELP, PART
from jackfield.errors import PluginError, UserError
from jackfield.plugins import Plugins
from jackfield.recipe.fields import annotation, recipe_keys
from jackfield.recipe.parts import LISTS, OWNED, TABLES
from jackfield.registry import Entry, Registry

CONTRACT = ("needs", "unit", "smallest_group", "uses_reward", "holds")
"""What a component may declare of itself to the core (see jackfield.stages)."""
CORE_KEYS = {
    "weight": ("weight", "float = 1.0", "factor of its part in the sum; every component of this list has it"),
    "gate": (
        "gate",
        "bool = false",
        "where it scores 0 or less, the other rewards do not count; every component of this list has it",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("component", metavar="NAME", help="e.g. gae, losses.ppo_clip or losses.ppo:ppo_clip")


def run(args: argparse.Namespace, plugins: Plugins) -> int:
    """Print it."""
    entry = find(args.component, plugins)
    cls = entry.load()
    if not attrs.has(cls):
        raise PluginError(f"{entry.kind}.{entry.qualified}: {entry.target} is not an attrs class, so it is no component")
    print("\n\n".join(_sections(entry, cls)))
    return 0


def find(wanted: str, plugins: Plugins) -> Entry:
    """The component of that name, whatever its kind. Raises UserError if there is none, or more than one."""
    kind, _, name = wanted.partition(".")
    if name and kind in plugins.registries:
        return plugins.registries[kind].find(name)
    kinds = [kind for kind, registry in plugins.registries.items() if registry.offers(wanted)]
    if len(kinds) > 1:
        raise UserError(
            f"'{wanted}' is the name of more than one component; write {' or '.join(f'{kind}.{wanted}' for kind in kinds)}"
        )
    if kinds:
        return plugins.registries[kinds[0]].find(wanted)
    everything: Registry[Entry] = Registry("all components", absent=plugins.absent)
    everything.add(entry for registry in plugins.registries.values() for entry in registry.entries)
    return everything.find(wanted)  # refuses, naming the nearest


def _sections(entry: Entry, cls: type[Any]) -> Iterator[str]:
    yield f"{entry.kind}.{entry.qualified}: {entry.summary}"
    yield inspect.cleandoc(cls.__doc__ or "no docstring")
    yield "\n".join(columns(list(_facts(entry, cls))))
    rows = [(key, _type(cls, field), _help(field)) for key, field in recipe_keys(cls).items()]
    rows += [row for key, row in CORE_KEYS.items() if entry.kind in OWNED[key]]
    yield "keys\n" + "\n".join(columns(rows, indent=2)) if rows else "no keys"
    yield "in a recipe\n" + "\n".join(f"  {line}" for line in example(entry, cls))


def _facts(entry: Entry, cls: type[Any]) -> Iterator[tuple[str, str]]:
    where = entry.provenance()
    yield (
        "offered by",
        f"plugin {entry.plugin}, {f'{where.distribution} {where.version}' if where.distribution else 'a local file'}",
    )
    yield "class", f"{where.module}:{cls.__qualname__}"
    if where.file:
        yield "written in", f"{where.file}:{where.line}"
    if entry.extra:
        yield "pip extra", f"{where.distribution or 'jackfield'}[{entry.extra}]"
    for name in CONTRACT:
        declared = inspect.getattr_static(cls, name, None)
        if declared is not None:
            yield name, _declared(cls, name, declared)


def _declared(cls: type[Any], name: str, declared: Any) -> str:
    """A constant as it is; what depends on keys, as it is with their defaults."""
    if not isinstance(declared, property):
        return _words(declared)
    try:
        default = cls()
    except (TypeError, ValueError):  # a required key, or keys that only go together
        return "depends on the keys"
    return f"{_words(getattr(default, name))} (with the default keys)"


def _words(value: Any) -> str:
    return ", ".join(sorted(map(str, value))) or "nothing" if isinstance(value, set | frozenset | tuple) else str(value)


def _type(cls: type[Any], field: attrs.Attribute[Any]) -> str:
    name = f"one of {field.metadata[PART]}" if PART in field.metadata else _written(cls, field)
    if field.default is attrs.NOTHING:
        return f"{name}, required"
    return f"{name} = {'(none)' if _default(field) is None else toml(_default(field))}"


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
    values = {
        key: _placeholder(cls, field) if field.default is attrs.NOTHING else _default(field)
        for key, field in recipe_keys(cls).items()
    }
    required = {key for key, field in recipe_keys(cls).items() if field.default is attrs.NOTHING}
    place = next((f"[{table}]" for table, kind in TABLES.items() if kind == entry.kind), None)
    place = place or next((f"[[{name}]]" for name, kind in LISTS.items() if kind == entry.kind), None)
    if place is None:
        chosen = {"use": entry.name} | {key: value for key, value in values.items() if key in required}
        return [f"# the value of a key that holds one of {entry.kind}", f"key = {toml(chosen)}"]
    lines = [place, f"use = {toml(entry.name)}"]
    for key, value in values.items():
        if value is None:
            lines.append(f"# {key} = (none)")
        else:
            lines.append(f"{key} = {toml(value)}{'  # required' if key in required else ''}")
    return lines


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
