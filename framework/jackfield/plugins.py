"""Find, load, isolate and list plugins: one try for each; what fails is kept and shown, and leaves nothing behind.

Why not ``pluggy``'s own loader: it stops at the first plugin that fails to import, drops a second entry point of the same
name without a word, says nothing of a misspelt hook until asked, and in some versions passes over arguments with a default.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path
from typing import Any

from attrs import frozen
from pluggy import PluginManager

from jackfield import hookspecs
from jackfield.errors import PluginError, Problem, StopRun, UserError, nearest
from jackfield.hookcheck import implemented
from jackfield.offers import Command, Offers
from jackfield.registry import KINDS, Entry, Registry

log = logging.getLogger(__name__)
GROUP = "jackfield.plugins"
NAME = re.compile(r"[A-Za-z0-9_-]+")


@frozen(kw_only=True)
class Source:
    """Where a plugin comes from.

    Example: ``Source(name="acme", value="jackfield_acme", distribution="jackfield-acme", version="1.2")``
    """

    name: str
    value: str
    """The entry point's value, or the path of a local file."""
    distribution: str | None = None
    version: str | None = None

    @property
    def label(self) -> str:
        """For messages: ``plugin 'acme' (jackfield-acme 1.2)``."""
        return f"plugin '{self.name}' ({f'{self.distribution} {self.version}' if self.distribution else self.value})"


@frozen(kw_only=True)
class Loaded(Source):
    """A plugin in use."""

    hooks: tuple[str, ...]
    entries: tuple[Entry, ...]


@frozen(kw_only=True)
class Failure(Source):
    """A plugin that is not in use because something is wrong with it."""

    problems: tuple[Problem, ...]
    traceback: str
    """The whole of it, for the plugin's writer; empty where no code of the plugin ran."""


class Plugins:
    """The plugins of one process, the components they offer and what went wrong with the others."""

    def __init__(self) -> None:
        self.manager = PluginManager("jackfield")
        self.manager.add_hookspecs(hookspecs)
        self.loaded: list[Loaded] = []
        self.failures: list[Failure] = []
        self.absent: dict[str, str] = {}
        """Plugins found but not loaded → why."""
        self.registries: Mapping[str, Registry[Entry]] = {kind: Registry(kind, absent=self.absent) for kind in KINDS}
        self.commands: Registry[Command] = Registry("commands", absent=self.absent, spelling="jackfield {}")

    def tell(self, hook: str, **what: Any) -> None:
        """Call an observing hook: ``plugins.tell("jackfield_run_start", run=…)``. Each observer for itself, in the order of names.

        UserError and StopRun are what observers may raise; anything else is reported and the run goes on, for they only watch.
        """
        for implementation in sorted(getattr(self.manager.hook, hook).get_hookimpls(), key=lambda i: i.plugin_name):
            try:
                implementation.function(*(what[name] for name in implementation.argnames))
            except (UserError, StopRun):
                raise
            except Exception:
                log.exception("plugin '%s' failed in %s; the run goes on without it", implementation.plugin_name, hook)

    def add(self, source: Source, load: Callable[[], object]) -> None:
        """Load one plugin. Whatever goes wrong becomes a Failure; then nothing of the plugin stays registered."""
        try:
            self._plug_in(source, load())
        except PluginError as error:
            self._fail(source, error.problems, traceback.format_exc())
        except (Exception, SystemExit) as error:
            self._fail(source, [Problem(source.label, "", f"{type(error).__name__}: {error}")], traceback.format_exc())

    def add_file(self, path: str | os.PathLike[str]) -> None:
        """Load a local file of hooks as the plugin named like the file. Raises PluginError if there is no such Python file."""
        file = Path(path).resolve()
        if file.suffix != ".py" or not file.is_file():
            raise PluginError(Problem(str(path), "", "a plugin file must be a Python file, and there is none of this name"))
        source = Source(name=file.stem, value=str(file))
        if source.value not in {known.value for known in (*self.loaded, *self.failures)}:
            self.add(source, lambda: _import_file(file))

    def refuse(self, source: Source, message: str) -> None:
        """Note a plugin as failed without trying it."""
        self._fail(source, [Problem(source.label, "", message)], "")

    def _plug_in(self, source: Source, plugin: object) -> None:
        self._check_name(source, plugin)
        hooks = implemented(self.manager, plugin, source.label)
        self.manager.register(plugin, name=source.name)
        try:
            offers = self._ask(source, plugin, hooks)
        except BaseException:
            self.manager.unregister(plugin)
            raise
        for kind, registry in self.registries.items():
            registry.add(entry for entry in offers.entries if entry.kind == kind)
        self.commands.add(offers.commands)
        self.loaded.append(Loaded(**_fields(source), hooks=hooks, entries=tuple(offers.entries)))

    def _check_name(self, source: Source, plugin: object) -> None:
        if not NAME.fullmatch(source.name):
            raise PluginError(Problem(source.label, "", "a plugin's name may hold letters, digits, '_' and '-' only"))
        if self.manager.has_plugin(source.name):
            other = next(known for known in self.loaded if known.name == source.name)
            raise PluginError(Problem(source.label, "", f"the name is taken by {other.value}; rename one"))
        if self.manager.is_registered(plugin):
            raise PluginError(Problem(source.label, "", f"the same object is plugin '{self.manager.get_name(plugin)}' already"))

    def _ask(self, source: Source, plugin: object, hooks: Iterable[str]) -> Offers:
        """Call the plugin's offering hooks, all of them even if one is wrong, so that every problem shows at once."""
        offers = Offers(source.name, source.label, source.distribution, source.version)
        others = [other for other in self.manager.get_plugins() if other is not plugin]
        callbacks: dict[str, dict[str, Any]] = {hook: {"register": offers.registrar(kind)} for kind, hook in KINDS.items()}
        callbacks["jackfield_commands"] = {"add": offers.add_command}
        cause: Exception | None = None
        for hook in hooks:
            if hook not in callbacks:
                continue
            try:
                self.manager.subset_hook_caller(hook, others)(**callbacks[hook])
            except Exception as error:
                offers.problems.append(Problem(source.label, hook, f"{type(error).__name__}: {error}"))
                cause = error
        if offers.problems:
            raise PluginError(offers.problems) from cause
        return offers

    def _fail(self, source: Source, problems: Iterable[Problem], trace: str) -> None:
        self.failures.append(Failure(**_fields(source), problems=tuple(problems), traceback=trace))
        if not self.manager.has_plugin(source.name):
            self.absent[source.name] = "failed to load"


def load_plugins(
    *, no_plugins: Iterable[str] = (), files: Iterable[str | os.PathLike[str]] = (), environ: Mapping[str, str] = os.environ
) -> Plugins:
    """Every installed plugin, in the order of their names, then local files.

    no_plugins: names to leave out (``--no-plugin``); ``name=value`` leaves out one of two that share a name. More come from the
    variable ``JACKFIELD_NO_PLUGINS``; ``JACKFIELD_PLUGINS`` lists the only installed ones to take (both separated by commas,
    empty as if not set). Raises UserError if any of them names a plugin that is not there, or a file is missing.
    """
    local = [Path(file) for file in files]
    installed = _installed()
    unwanted = dict.fromkeys(_names(environ, "JACKFIELD_NO_PLUGINS"), "JACKFIELD_NO_PLUGINS") | dict.fromkeys(
        no_plugins, "--no-plugin"
    )
    wanted = dict.fromkeys(_names(environ, "JACKFIELD_PLUGINS"), "JACKFIELD_PLUGINS")
    names = {name for name, _ in installed}
    _refuse_unknown(unwanted, names | {f"{name}={value}" for name, value in installed} | {file.stem for file in local})
    _refuse_unknown(wanted, names)

    plugins = Plugins()
    by_name: dict[str, list[EntryPoint]] = {}
    for (name, value), point in sorted(installed.items()):
        switched_off = next((form for form in (name, f"{name}={value}") if form in unwanted), None)
        if switched_off is not None:
            plugins.absent[switched_off] = f"disabled by {unwanted[switched_off]}"
        elif wanted and name not in wanted:
            plugins.absent[name] = "not in JACKFIELD_PLUGINS"
        else:
            by_name.setdefault(name, []).append(point)
    _load_installed(plugins, by_name)
    for file in local:
        if file.stem in unwanted:
            plugins.absent[file.stem] = f"disabled by {unwanted[file.stem]}"
        else:
            plugins.add_file(file)
    return plugins


def _load_installed(plugins: Plugins, by_name: Mapping[str, list[EntryPoint]]) -> None:
    labels: dict[int, tuple[str, str]] = {}
    for points in by_name.values():
        sources = [_source(point, labels) for point in points]
        if len(points) == 1:
            plugins.add(sources[0], points[0].load)
        else:
            _refuse_namesakes(plugins, sources)


def _installed() -> dict[tuple[str, str], EntryPoint]:
    """By name and value: the same pair twice, as stale installs leave it, is one plugin."""
    found: dict[tuple[str, str], EntryPoint] = {}
    for point in entry_points(group=GROUP):
        found.setdefault((point.name, point.value), point)
    return found


def _source(point: EntryPoint, labels: dict[int, tuple[str, str]]) -> Source:
    """``labels`` remembers names and versions by distribution, for reading them from disk is slow."""
    dist: Distribution | None = point.dist
    if dist is None:
        return Source(name=point.name, value=point.value)
    if id(dist) not in labels:
        labels[id(dist)] = (dist.name, dist.version)
    name, version = labels[id(dist)]
    return Source(name=point.name, value=point.value, distribution=name, version=version)


def _refuse_namesakes(plugins: Plugins, sources: list[Source]) -> None:
    offers = " and ".join(f"{source.value} ({source.distribution} {source.version})" for source in sources)
    ways = " or ".join(f"--no-plugin {source.name}={source.value}" for source in sources)
    plugins.refuse(sources[0], f"the name is taken twice, by {offers}; uninstall one, or leave one out: {ways}")


def _refuse_unknown(asked: Mapping[str, str], known: set[str]) -> None:
    wrong = [Problem(option, name, f"no such plugin{nearest(name, known)}") for name, option in asked.items() if name not in known]
    if wrong:
        raise UserError(wrong)


def _names(environ: Mapping[str, str], variable: str) -> list[str]:
    return [name.strip() for name in environ.get(variable, "").split(",") if name.strip()]


def _import_file(file: Path) -> object:
    """Import by path, under a name that no installed module can have."""
    name = f"jackfield_file_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: classes look their module up, and import strings must find it
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _fields(source: Source) -> dict[str, Any]:
    return {"name": source.name, "value": source.value, "distribution": source.distribution, "version": source.version}
