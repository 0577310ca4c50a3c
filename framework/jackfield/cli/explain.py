"""``jackfield explain losses.ppo_clip``: everything about one component, or about a table of a recipe or a plugin. The only listing command
that imports what it lists.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from jackfield import settings
from jackfield.cli.columns import columns
from jackfield.component import HELP, PART
from jackfield.errors import PluginError, UserError, closest
from jackfield.plugins import Plugins
from jackfield.recipe.fields import annotation, recipe_keys
from jackfield.recipe.parts import LISTS, OWNED, SETTINGS, TABLES
from jackfield.registry import Entry

CONTRACT = ("needs", "unit", "smallest_group", "uses_reward", "holds")
"""What a component may declare of itself to the core (see jackfield.stages)."""
WIDEST = 44
"""Characters of a default in the table of keys; the example below it has all of it."""
LINE = 100
"""Characters of a text in the example before it goes on in the next line."""
CORE = {"": settings.Run} | SETTINGS
"""Table → its keys, of those that the core owns."""
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
    parser.add_argument(
        "name",
        metavar="NAME",
        help="a component (gae, losses.ppo_clip, losses.ppo:ppo_clip), a table or list of a recipe (learn, rewards), a key of the core "
        "(steps, learn.epochs), or a plugin",
    )


def run(args: argparse.Namespace, plugins: Plugins) -> int:
    """Print it."""
    print("\n\n".join(_explained(args.name, plugins)))
    return 0


def _explained(wanted: str, plugins: Plugins) -> Iterator[str]:
    """What the name stands for; a component comes before whatever else has its name."""
    kind, _, name = wanted.partition(".")
    found = (kind in plugins.registries and name) or any(registry.offers(wanted) for registry in plugins.registries.values())
    table = next((table for table, cls in CORE.items() if wanted in (table, *_keys_of(table, cls))), None)
    plugin = next((loaded for loaded in plugins.loaded if loaded.name == wanted), None)
    if found:
        entry = find(wanted, plugins)
        cls = entry.load()
        if not attrs.has(cls):
            raise PluginError(f"{entry.kind}.{entry.qualified}: {entry.target} is not an attrs class, so it is no component")
        yield from _sections(entry, cls)
        if table is not None:
            key = columns([row for row in _rows(CORE[table]) if row[0] == wanted], indent=2)
            yield f"also a key {f'of [{table}]' if table else 'at the top of a recipe'}\n" + "\n".join(key)
    elif table is not None:
        yield from _table_sections(table)
    elif wanted in _places(plugins):
        yield from _kind_sections(wanted, plugins)
    elif plugin is not None:
        rows = [(f"{entry.kind}.{entry.name}", entry.summary) for entry in plugin.entries]
        rows += [(f"jackfield {command.name}", command.summary) for command in plugins.commands.entries if command.plugin == wanted]
        yield f"plugin {plugin.name} ({_brought_by(plugin.distribution, plugin.version)}) offers\n" + "\n".join(
            columns(rows, indent=2)
        )
    else:
        raise UserError(_unknown(wanted, plugins))


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
    return plugins.registries[kinds[0]].find(wanted)


def _keys_of(table: str, cls: type[Any]) -> Iterator[str]:
    for key in recipe_keys(cls):
        yield from (key, f"{table}.{key}" if table else key)


def _places(plugins: Plugins) -> dict[str, str]:
    """Tables and lists of a recipe, and kinds of components by themselves → kind."""
    return {kind: kind for kind in plugins.registries} | LISTS | TABLES


def _unknown(wanted: str, plugins: Plugins) -> str:
    names = [entry.name for registry in plugins.registries.values() for entry in registry.entries]
    names += [*filter(None, CORE), *_places(plugins), *(key for cls in CORE.values() for key in recipe_keys(cls))]
    close = closest(wanted, [*names, *(loaded.name for loaded in plugins.loaded)])
    hint = "jackfield components lists them" if close is None else f"did you mean '{close}'?"
    absent = f"; plugins that are not loaded may offer it: {', '.join(sorted(plugins.absent))}" if plugins.absent else ""
    return f"'{wanted}' is unknown among all components; {hint}{absent}"


def _table_sections(table: str) -> Iterator[str]:
    cls = CORE[table]
    yield inspect.cleandoc(cls.__doc__ or "")
    yield "keys\n" + "\n".join(columns(_rows(cls), indent=2))
    lines = ([f"[{table}]"] if table else []) + _assignments(cls)
    yield "in a recipe\n" + "\n".join(f"  {line}" for line in lines)


def _kind_sections(place: str, plugins: Plugins) -> Iterator[str]:
    kind = _places(plugins)[place]
    table, listed = next((t for t, k in TABLES.items() if k == kind), None), next((n for n, k in LISTS.items() if k == kind), None)
    where = f"[{table}]: one of" if table else f"[[{listed}]]: any of" if listed else f"{kind}, held by other components: one of"
    entries = plugins.registries[kind].entries
    names = [entry.name for entry in entries]
    rows = [(e.name if names.count(e.name) == 1 else e.qualified, e.plugin, e.summary) for e in entries]
    yield f"{where}\n" + "\n".join(columns(rows, indent=2))
    yield f"jackfield explain {kind}.NAME says more of one"


def _brought_by(distribution: str | None, version: str | None) -> str:
    return f"{distribution} {version}" if distribution else "a local file"


def _sections(entry: Entry, cls: type[Any]) -> Iterator[str]:
    yield f"{entry.kind}.{entry.qualified}: {entry.summary}"
    yield inspect.cleandoc(cls.__doc__ or "no docstring")
    yield "\n".join(columns(list(_facts(entry, cls))))
    rows = _rows(cls) + [row for key, row in CORE_KEYS.items() if entry.kind in OWNED[key]]
    yield "keys\n" + "\n".join(columns(rows, indent=2)) if rows else "no keys"
    yield "in a recipe\n" + "\n".join(f"  {line}" for line in example(entry, cls))


def _facts(entry: Entry, cls: type[Any]) -> Iterator[tuple[str, str]]:
    where = entry.provenance()
    yield (
        "offered by",
        f"plugin {entry.plugin}, {_brought_by(where.distribution, where.version)}",
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


def _rows(cls: type[Any]) -> list[tuple[str, str, str]]:
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
    return [place, f"use = {toml(entry.name)}", *_assignments(cls)]


def _assignments(cls: type[Any]) -> list[str]:
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
