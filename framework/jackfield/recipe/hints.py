"""Where a key belongs that its table does not know: whoever wrote it meant something, and the fields of settings and components say what."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import attrs
from attrs import frozen

from jackfield import settings
from jackfield.component import PART
from jackfield.errors import PluginError, closest, nearest
from jackfield.recipe.fields import recipe_keys
from jackfield.recipe.parts import LISTS, OWNED, SETTINGS, TABLES
from jackfield.recipe.tree import Node

if TYPE_CHECKING:
    from jackfield.plugins import Plugins
    from jackfield.registry import Entry

NOT_OFFERED = dict.fromkeys(
    ("top_p", "top_k", "min_p"), "not offered: truncated sampling changes the distribution that log-probs refer to; use temperature"
)
MOST_NAMES = 3
"""Components with a key of the name that are written out."""


@frozen
class Hint:
    """What to say of an unknown key."""

    message: str
    meant: str | None = None
    """Dotted place that was meant, if there is only one: what is missing there is this key, so it is not told again."""


@frozen
class _Owner:
    """A place that has a key."""

    where: str
    """As a recipe writes it, e.g. ``[optimizer]``."""
    subject: str
    keys: frozenset[str]


@frozen(eq=False)
class Hints:
    """Says of unknown keys of one recipe what they were meant for."""

    tree: Node
    plugins: Plugins

    def of(self, key: str, node: Node, subject: str, choices: Collection[str], kind: str | None) -> Hint:
        """``key`` with the value ``node`` stands in the table ``subject``, which knows only ``choices``; ``kind`` is that of its component,
        None for a table of the core."""
        if key in NOT_OFFERED and subject == "sampling":
            return Hint(NOT_OFFERED[key])
        core, own = list(_core(key, subject)), [owner for owner in self._components() if key in owner.keys]
        if core or (own and kind is None):
            return _belongs(key, core or own)
        if key in NOT_OFFERED and kind in (None, "environments", "engines"):
            return Hint(NOT_OFFERED[key])
        if not subject and (hint := self._named(key)) is not None:
            return hint
        near, offered = closest(key, choices), self._offered(key, kind)
        also = f"'{key}' is a key of {offered}" if offered else ""
        if near is not None:
            return Hint(f"unknown key; did you mean '{near}'?{f' ({also})' if kind and also else ''}", _join(subject, near))
        if not subject and (hint := self._at_the_top(key, node)) is not None:
            return hint
        if also:
            return Hint(f"unknown key; {also}")
        return _belongs(key, own) if own else Hint(f"unknown key{nearest('', choices)}")

    def _named(self, key: str) -> Hint | None:
        """A key or table named after a component."""
        places = [place for place, kind in (TABLES | LISTS).items() if self.plugins.registries[kind].offers(key)]
        if not places:
            return None
        told = f"unknown key; '{key}' is a component: write {' or '.join(map(_header, places))} with `use = \"{key}\"`"
        return Hint(told, places[0] if len(places) == 1 else None)

    def _at_the_top(self, key: str, node: Node) -> Hint | None:
        """Something named after a kind of component; a key that many components have; a table whose own keys say what it is."""
        places = {kind: place for place, kind in (TABLES | LISTS).items()}
        kind = closest(key, places)
        if kind is not None:
            return Hint(f"unknown key; {kind} stand in {_header(places[kind])}", places[kind])
        if key in OWNED:
            return Hint(f"unknown key; '{key}' belongs in {' or in '.join(map(_header, OWNED[key]))}")
        told = []
        for inner in node.value if node.is_table else ():
            owners = list(_core(inner, key)) or [owner for owner in self._components() if inner in owner.keys]
            told += [_told(inner, owners)] if owners else []
        return Hint(f"unknown table; {', '.join(told)}") if told else None

    def _components(self) -> Iterator[_Owner]:
        """Those of the recipe, as far as they can be told."""
        for place, kind in (TABLES | LISTS).items():
            node = self.tree.value.get(place)
            if place in LISTS:
                items = node.value if node is not None and isinstance(node.value, list) else []
                for index, item in enumerate(items):
                    yield from self._component(_header(place), kind, item, f"{place}.{index}")
            elif node is not None:
                yield from self._component(_header(place), kind, node, place)

    def _offered(self, key: str, kind: str | None) -> str:
        """Which components have such a key: of this kind, or of any that has a place of its own."""
        kinds = [kind] if kind is not None else [*(TABLES | LISTS).values()]
        found = [entry for one in kinds for entry in self.plugins.registries[one].entries if key in (entry_keys(entry) or ())]
        names = [f"{entry.kind}.{entry.name}" for entry in found]
        return f"{' and '.join(names[:MOST_NAMES])}{' and others' if len(names) > MOST_NAMES else ''}"

    def _component(self, where: str, kind: str, node: Node, subject: str) -> Iterator[_Owner]:
        """The component at ``subject`` and those that it holds, as far as they can be told."""
        use = node.value.get("use") if node.is_table else node
        found = self.plugins.registries[kind].offers(use.value) if use is not None and isinstance(use.value, str) else ()
        keys = entry_keys(found[0]) if len(found) == 1 else None
        if keys is None:
            return
        which = f' with `use = "{found[0].name}"`' if subject.partition(".")[0] in LISTS else ""
        yield _Owner(f"in {where}{which}", subject, frozenset(keys))
        for key, attribute in keys.items():
            if PART in attribute.metadata and node.is_table and key in node.value:
                yield from self._component(f"{where} {key}", attribute.metadata[PART], node.value[key], f"{subject}.{key}")


def _core(key: str, subject: str) -> Iterator[_Owner]:
    """The core's own tables, beside ``subject``, that have such a key."""
    yield from (_Owner(f"in [{table}]", table, frozenset()) for table, cls in SETTINGS.items() if key in recipe_keys(cls))
    if subject and key in recipe_keys(settings.Run):
        yield _Owner("at the top, before the first table", "", frozenset())


def _header(place: str) -> str:
    return f"[{place}]" if place in TABLES else f"[[{place}]]"


def entry_keys(entry: Entry) -> dict[str, attrs.Attribute[object]] | None:
    """Its recipe keys, or None if it cannot be loaded or is no component: that is told elsewhere."""
    try:
        cls = entry.load()
    except PluginError:
        return None
    return recipe_keys(cls) if attrs.has(cls) else None


def _belongs(key: str, owners: Sequence[_Owner]) -> Hint:
    return Hint(f"unknown key; {_told(key, owners)}", _join(owners[0].subject, key) if len(owners) == 1 else None)


def _told(key: str, owners: Sequence[_Owner]) -> str:
    return f"'{key}' belongs {' or '.join(dict.fromkeys(owner.where for owner in owners))}"


def _join(subject: str, key: str) -> str:
    return f"{subject}.{key}" if subject else key
