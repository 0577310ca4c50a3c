"""Does a plugin implement hooks that exist, with the arguments they have? Asked before the plugin is registered."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from pluggy import PluginManager

from jackfield.errors import PluginError, Problem, nearest
from jackfield.registry import SPECS

CALLBACKS = {"register", "add"}
"""A hook that does not take these can do nothing. Observers may leave out arguments."""
ORDERING = ("wrapper", "hookwrapper", "tryfirst", "trylast")


def implemented(manager: PluginManager, plugin: object, label: str) -> tuple[str, ...]:
    """The hooks that ``plugin`` implements: its functions marked ``@hookimpl``, and nothing else that is named like a hook.

    Raises PluginError, listing everything wrong, for a hook that does not exist or does not fit its specification.
    """
    found = {}
    for name in dir(plugin):
        options = manager.parse_hookimpl_opts(plugin, name)
        if options is not None:
            found[name] = options
    if not found:
        raise PluginError(Problem(label, "", "offers nothing: no function is marked @jackfield.hookimpl"))
    problems = [
        Problem(label, name, wrong) for name, options in found.items() for wrong in _wrong(getattr(plugin, name), name, options)
    ]
    if problems:
        raise PluginError(problems)
    return tuple(options.get("specname") or name for name, options in found.items())


def _wrong(function: Any, name: str, options: Mapping[str, Any]) -> Iterator[str]:
    hook = options.get("specname") or name
    if hook not in SPECS:
        if not options.get("optionalhook"):
            yield f"there is no hook '{hook}'{nearest(hook, SPECS)}"
        return
    for option in ORDERING:
        if options.get(option):
            yield f"hookimpl({option}=True) is not supported: there is no order between plugins"
    spec = SPECS[hook]
    takes = inspect.signature(function).parameters
    for argument in takes.values():
        if argument.name not in spec.parameters:
            yield f"unknown argument '{argument.name}'; the hook is {_shape(hook)}"
        elif argument.kind is not argument.POSITIONAL_OR_KEYWORD or argument.default is not argument.empty:
            yield f"the argument '{argument.name}' must be plain, without default; the hook is {_shape(hook)}"
    for missing in CALLBACKS & (spec.parameters.keys() - takes.keys()):
        yield f"the argument '{missing}' is missing; the hook is {_shape(hook)}"


def _shape(hook: str) -> str:
    return f"{hook}({', '.join(SPECS[hook].parameters)})"
