"""Components by name, with who offers them. Registries hold import strings: nothing is imported before it is used."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

from attrs import field, frozen

from jackfield import hookspecs
from jackfield.errors import PluginError, Problem, nearest

PREFIX = "jackfield_"

SPECS: Mapping[str, inspect.Signature] = {
    name: inspect.signature(spec) for name, spec in vars(hookspecs).items() if hasattr(spec, "jackfield_spec")
}
"""Every hook with its signature, in the order of hookspecs.py."""

KINDS: Mapping[str, str] = {name.removeprefix(PREFIX): name for name, spec in SPECS.items() if [*spec.parameters] == ["register"]}
"""Kind of component → the hook that offers it: ``{"data": "jackfield_data", …}``. The hooks with a ``register`` argument."""


@frozen
class Provenance:
    """Where a component's class stands and which distribution brought it; None where that is not known."""

    module: str
    file: str | None
    line: int | None
    distribution: str | None
    version: str | None


@frozen
class Entry:
    """Something a plugin offers by name.

    Example: ``Entry("losses", "ppo_clip", "jackfield_ppo.loss:PpoClip", "Clipped policy loss.", "ppo")``
    """

    kind: str
    name: str
    target: str
    """``"package.module:Class"``."""
    summary: str
    plugin: str
    extra: str | None = None
    """The pip extra of ``distribution`` that the target needs."""
    distribution: str | None = field(default=None, kw_only=True)
    """Which installed distribution the plugin belongs to; None for a local file."""
    version: str | None = field(default=None, kw_only=True)

    @property
    def qualified(self) -> str:
        """``"ppo:ppo_clip"``: unambiguous whatever else is installed."""
        return f"{self.plugin}:{self.name}"

    def load(self) -> type[Any]:
        """The class, imported now. Raises PluginError if the target is not there or something it imports is missing."""
        found = self._import()
        if not isinstance(found, type):
            raise self._error(f"is not a class but {found!r}")
        return found

    def provenance(self) -> Provenance:
        """Who brought it and where it is written; imports the target."""
        found = self.load()
        try:
            file, line = inspect.getsourcefile(found), inspect.getsourcelines(found)[1]
        except (OSError, TypeError):  # no source: compiled, or made at run time
            file, line = None, None
        return Provenance(found.__module__, file, line, self.distribution, self.version)

    def _import(self) -> Any:
        module_name, _, attribute = self.target.partition(":")
        try:
            module = importlib.import_module(module_name)
        except ImportError as error:
            raise self._error(self._missing(module_name, error)) from error
        if not hasattr(module, attribute):
            own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module_name]
            raise self._error(f"module '{module_name}' has no '{attribute}'{nearest(attribute, own)}")
        return getattr(module, attribute)

    def _missing(self, module_name: str, error: ImportError) -> str:
        if not isinstance(error, ModuleNotFoundError) or error.name is None:
            what = f"cannot be imported: {error}"
        elif f"{module_name}.".startswith(f"{error.name}."):
            what = f"there is no module '{error.name}'"
            if self.distribution is None:  # a local file is imported under a name of its own
                what += f'; a class of the plugin file itself is written f"{{__name__}}:{self.target.partition(":")[2]}"'
        else:
            what = f"needs the module '{error.name}', which is not installed"
        if self.extra is not None:
            what += f"; pip install '{self.distribution or 'jackfield'}[{self.extra}]'"
        return what

    def _error(self, message: str) -> PluginError:
        return PluginError(Problem(f"plugin '{self.plugin}'", f"{self.kind}.{self.name}", f"{self.target}: {message}"))


E = TypeVar("E", bound=Entry)


class Registry(Generic[E]):
    """All entries of one kind, by name. Two plugins may offer one name: both stay, and only their qualified names find them."""

    def __init__(self, kind: str, *, absent: Mapping[str, str] | None = None, spelling: str = 'use = "{}"') -> None:
        """absent: plugins that are not loaded → why, for messages. spelling: how a user writes a name of this kind."""
        self.kind = kind
        self._absent = {} if absent is None else absent
        self._spelling = spelling
        self._entries: list[E] = []

    @property
    def entries(self) -> tuple[E, ...]:
        """Sorted by name, then by plugin."""
        return tuple(self._entries)

    def add(self, entries: Iterable[E]) -> None:
        """Take in what a plugin offers."""
        self._entries = sorted([*self._entries, *entries], key=lambda entry: (entry.name, entry.plugin))

    def find(self, name: str) -> E:
        """The entry called ``name``, or ``"plugin:name"``. Raises PluginError if there is none or more than one."""
        found = self.offers(name)
        if not found:
            raise PluginError(self._unknown(name))
        if len(found) > 1:
            ways = " or ".join(self._spelling.format(entry.qualified) for entry in found)
            raise PluginError(f"'{name}' is offered by more than one plugin; write {ways}")
        return found[0]

    def offers(self, name: str) -> tuple[E, ...]:
        """Every entry called ``name``, or ``"plugin:name"``."""
        plugin, _, bare = name.rpartition(":")
        return tuple(entry for entry in self._entries if entry.name == bare and plugin in ("", entry.plugin))

    def _unknown(self, name: str) -> str:
        plugin = name.rpartition(":")[0]
        known = [entry.qualified if plugin else entry.name for entry in self._entries]
        message = f"'{name}' is unknown among {self.kind}{nearest(name, known)}"
        relevant = {plugin: self._absent[plugin]} if plugin in self._absent else self._absent
        if relevant:
            absent = ", ".join(f"'{name}' ({why})" for name, why in sorted(relevant.items()))
            message += f"; plugins not loaded, which may offer it: {absent}; see `jackfield plugins`"
        return message
