"""``jackfield explain losses.ppo_clip``: everything about one component, or about a table of a recipe or a plugin. The only listing command
that imports what it lists.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from typing import Any, NoReturn

import attrs

from jackfield import settings
from jackfield.cli.columns import columns
from jackfield.cli.component_keys import assignments, example, key_rows
from jackfield.errors import PluginError, UserError, closest, nearest
from jackfield.plugins import Plugins
from jackfield.recipe.fields import recipe_keys
from jackfield.recipe.hints import entry_keys
from jackfield.recipe.parts import LISTS, OWNED, SETTINGS, TABLES
from jackfield.registry import Entry

CONTRACT = ("needs", "unit", "smallest_group", "uses_reward", "holds")
"""What a component may declare of itself to the core (see jackfield.stages)."""
CORE = {"": settings.Run} | SETTINGS
"""Table → its keys, of those that the core owns."""
TOP = [
    ("extends", "str", "path or name of the recipe that this one changes"),
    ("requires", "array of strings", 'distributions that must be installed, e.g. "jackfield-acme>=1.2"'),
    ("plugins", "array of paths", "plugin files that components of this recipe come from"),
]
"""Keys at the top of a recipe that are read before the others."""
CORE_KEYS = {
    "weight": ("weight", "float = 1.0", "factor of its part in the sum; every component of this list has it"),
    "gate": (
        "gate",
        "bool = false",
        "where it scores 0 or less, the other rewards do not count; every component of this list has it",
    ),
}
"""Keys of a list's components that the core owns (see OWNED)."""
EVERY = {
    "use": ("every component", "str, required", "its name, with its plugin where two offer it: gae, credit:gae"),
    "from": ("components with a key path", "str", "path or name of the recipe whose final checkpoint takes the place of path"),
}
"""Keys that stand in components of any kind."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "name",
        metavar="NAME",
        help="a component (gae, advantage.gae, losses.ppo:ppo_clip), a table or list of a recipe (learn, rewards), a key (steps, "
        "learn.epochs, rollout.max_turns, gae.lam, weight), or a plugin",
    )


def run(args: argparse.Namespace, plugins: Plugins) -> int:
    """Print it."""
    print("\n\n".join(_explained(args.name, plugins)))
    return 0


def _explained(wanted: str, plugins: Plugins) -> Iterator[str]:
    """What the name stands for; a component comes before whatever else has its name."""
    first, *rest = wanted.split(".")
    wanted = ".".join([first, *(part for part in rest if not part.isdigit())])  # messages say losses.0.weight
    table = next((table for table, cls in CORE.items() if wanted in (table, *_keys_of(table, cls))), None)
    plugin = next((loaded for loaded in plugins.loaded if loaded.name == wanted), None)
    if _is_component(wanted, plugins):
        entry = find(wanted, plugins)
        cls = entry.load()
        if not attrs.has(cls):
            raise PluginError(f"{entry.kind}.{entry.qualified}: {entry.target} is not an attrs class, so it is no component")
        yield from _sections(entry, cls)
        if table is not None:
            key = columns([row for row in key_rows(CORE[table]) if row[0] == wanted], indent=2)
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
    elif found := _key(wanted, plugins):
        yield f"{wanted.rpartition('.')[2]}, a key of\n" + "\n".join(columns(found, indent=2))
    else:
        _refuse(wanted, plugins)


def find(wanted: str, plugins: Plugins) -> Entry:
    """The component of that name, alone or after its kind or place. Raises UserError if there is none, or more than one."""
    place, _, name = wanted.partition(".")
    if name:
        return plugins.registries[_places(plugins)[place]].find(name)
    kinds = [kind for kind, registry in plugins.registries.items() if registry.offers(wanted)]
    if len(kinds) > 1:
        raise UserError(
            f"'{wanted}' is the name of more than one component; write {' or '.join(f'{kind}.{wanted}' for kind in kinds)}"
        )
    return plugins.registries[kinds[0]].find(wanted)


def _is_component(wanted: str, plugins: Plugins) -> bool:
    place, _, name = wanted.partition(".")
    kind = _places(plugins).get(place)
    if name:
        return kind is not None and bool(plugins.registries[kind].offers(name))
    return any(registry.offers(wanted) for registry in plugins.registries.values())


def _key(wanted: str, plugins: Plugins) -> list[tuple[str, str, str]]:
    """Who has this key: ``max_turns`` of anything, ``rollout.max_turns`` of a place's components, ``tagged_tools.max_turns`` of one."""
    owner, _, key = wanted.rpartition(".")
    rows = [(f"{entry.kind}.{entry.name}", *row[1:]) for entry in _owners(owner, plugins) for row in _keys(entry) if row[0] == key]
    kinds = {entry.kind for entry in _owners(owner, plugins)}
    rows += [(f"every one of {kind}", *CORE_KEYS[key][1:]) for kind in OWNED.get(key, ()) if kind in kinds]
    return rows + ([EVERY[key]] if key in EVERY and kinds else [])


def _owners(owner: str, plugins: Plugins) -> list[Entry]:
    """The components of a place or kind, or of that name; all of them for ``""``."""
    kind = _places(plugins).get(owner)
    registries = plugins.registries.values() if kind is None else [plugins.registries[kind]]
    if owner and kind is None:
        return [entry for registry in registries for entry in registry.offers(owner)]
    return [entry for registry in registries for entry in registry.entries]


def _keys(entry: Entry) -> list[tuple[str, str, str]]:
    return [] if entry_keys(entry) is None else key_rows(entry.load())


def _keys_of(table: str, cls: type[Any]) -> Iterator[str]:
    for key in (*recipe_keys(cls), *(() if table else (row[0] for row in TOP))):
        yield from (key, f"{table}.{key}" if table else key)


def _places(plugins: Plugins) -> dict[str, str]:
    """Tables and lists of a recipe, and kinds of components by themselves → kind."""
    return {kind: kind for kind in plugins.registries} | LISTS | TABLES


def _refuse(wanted: str, plugins: Plugins) -> NoReturn:
    """With the nearest of what there is."""
    owner, _, name = wanted.rpartition(".")
    kind = _places(plugins).get(owner)
    keys = [row[0] for entry in _owners(owner, plugins) for row in _keys(entry)]
    if kind is not None and closest(name, keys) is None:
        plugins.registries[kind].find(name)
    if owner and keys:
        raise UserError(f"'{name}' is unknown among the keys of {owner}{nearest(name, keys)}")
    names = [entry.name for registry in plugins.registries.values() for entry in registry.entries]
    names += [*filter(None, CORE), *_places(plugins), *(key for table, cls in CORE.items() for key in _keys_of(table, cls))]
    close = closest(wanted, [*names, *keys, *(loaded.name for loaded in plugins.loaded)])
    hint = "jackfield components lists them" if close is None else f"did you mean '{close}'?"
    absent = f"; plugins that are not loaded may offer it: {', '.join(sorted(plugins.absent))}" if plugins.absent else ""
    raise UserError(f"'{wanted}' is unknown among all components and keys; {hint}{absent}")


def _table_sections(table: str) -> Iterator[str]:
    cls = CORE[table]
    yield inspect.cleandoc(cls.__doc__ or "")
    yield "keys\n" + "\n".join(columns([*key_rows(cls), *(() if table else TOP)], indent=2))
    lines = ([f"[{table}]"] if table else []) + assignments(cls)
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
    rows = key_rows(cls) + [row for key, row in CORE_KEYS.items() if entry.kind in OWNED[key]]
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
