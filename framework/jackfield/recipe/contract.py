"""Does a class have what the protocol of its kind (``jackfield.stages``) lists? Asked when a recipe names it: what is missing would else
be noticed in the middle of a run."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import attrs

from jackfield import stages
from jackfield.errors import closest
from jackfield.recipe.read import show_path
from jackfield.registry import Entry

PROTOCOLS: Mapping[str, type] = {
    "models": stages.ModelSource,
    "data": stages.Data,
    "corpora": stages.Corpus,
    "environments": stages.Environment,
    "tools": stages.Tool,
    "engines": stages.Engine,
    "rewards": stages.Reward,
    "filters": stages.Filter,
    "penalties": stages.Penalty,
    "critics": stages.Critic,
    "advantages": stages.Advantage,
    "losses": stages.Loss,
    "optimizers": stages.Optimizer,
    "trackers": stages.Tracker,
}
"""Kind → what its components have. Embedders are the search plugin's."""
LEARNS: Mapping[str, tuple[str, ...]] = {"after_step": ("metrics",), "state": (), "restore": ("state",)}
TASKS: Mapping[str, tuple[str, ...]] = {"check_task": ("task", "tokenizer")}
OPTIONAL: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "environments": TASKS,
    "rewards": {**TASKS, "judge_all": ("rollouts",), "prepare": ("tokenizer",), "close": ()},
    "filters": LEARNS,
    "penalties": LEARNS,
    "advantages": LEARNS,
    "losses": {**LEARNS, "counts": ("rollout",)},
}
"""Kind → methods that a component may have beside those of its protocol, with their arguments (``check_recipe`` any may)."""
PAIRS: Mapping[str, str] = {"state": "restore", "restore": "state"}
"""Neither is of use without the other."""
EITHER = ("judge", "judge_all", "close")
"""Methods that may be ``async`` or not."""
INSTEAD: Mapping[str, str] = {"judge": "judge_all"}
"""Method → the optional one that is called in its place."""

_ABSENT: Final = object()


def misfits(entry: Entry, cls: type, part: object) -> Iterator[str]:
    """Everything that the attrs class of ``entry`` lacks, or has in another shape than it will be used in. ``part``: an object of it, or
    None if there is none yet, for what it was given when it was made."""
    protocol = PROTOCOLS.get(entry.kind)
    if protocol is None:
        return
    given = {*attrs.fields_dict(cls), *getattr(part, "__dict__", ())}
    anything = any("__getattr__" in vars(owner) for owner in cls.__mro__)
    where = entry.provenance()
    at = f"{cls.__qualname__} ({where.module if where.file is None else f'{show_path(Path(where.file))}:{where.line}'})"
    wanted = {name: spec for name, spec in vars(protocol).items() if isinstance(spec, FunctionType | property) and name[0] != "_"}
    for name, spec in wanted.items():
        found = _lookup(cls, name)
        if found is _ABSENT:
            if anything or name in given or _lookup(cls, INSTEAD.get(name, name)) is not _ABSENT:
                continue
            what = f"attribute {name}" if isinstance(spec, property) else f"method {_called(name, _arguments(spec))}"
            near = closest(name, [own for own in dir(cls) if own[0] != "_" and own not in wanted])
            meant = "" if near is None else f"; did you mean its '{near}'?"
            yield f"{at} has no {what}, which the core asks of {entry.kind}{meant}"
        elif isinstance(spec, property):
            if isinstance(found, FunctionType):
                yield f"{_place(cls, name, found)} is read as a value, not called; write @property above it"
        else:
            yield from _misshapen(cls, name, found, _arguments(spec), inspect.iscoroutinefunction(spec))
    for name, arguments in {"check_recipe": ("corridor",), **OPTIONAL.get(entry.kind, {})}.items():
        found = _lookup(cls, name)
        if found is not _ABSENT:
            yield from _misshapen(cls, name, found, dict.fromkeys(arguments, False), False)
            if name in PAIRS and _lookup(cls, PAIRS[name]) is _ABSENT:
                yield f"{at} has a method {name}, and none called {PAIRS[name]}; a checkpoint needs both"


def _lookup(cls: type, name: str) -> Any:
    """What instances find under a name, unbound; a protocol that is inherited from gives nothing."""
    for owner in cls.__mro__:
        if name in vars(owner) and not getattr(owner, "_is_protocol", False):
            return vars(owner)[name]
    return _ABSENT


def _misshapen(cls: type, name: str, found: Any, arguments: Mapping[str, bool], awaited: bool) -> Iterator[str]:
    """``arguments``: name → whether it is given by name."""
    function = found.__func__ if isinstance(found, staticmethod | classmethod) else found
    if not isinstance(function, FunctionType):  # a property, or a callable of another sort: nothing is known of it
        return
    takes = inspect.signature(function)
    bound = () if isinstance(found, staticmethod) else (cls,)
    try:
        takes.bind(
            *bound, *(a for a, by_name in arguments.items() if not by_name), **{a: a for a, by_name in arguments.items() if by_name}
        )
    except TypeError:
        plain = takes.replace(
            parameters=[p.replace(annotation=p.empty) for p in takes.parameters.values()], return_annotation=takes.empty
        )
        yield f"{_place(cls, name, function)} is called as {_called(name, arguments)}, and takes {plain}"
    is_async = inspect.iscoroutinefunction(function)
    if awaited and not is_async and not _gives_awaitable(function):
        yield f"{_place(cls, name, function)} is awaited; write async def {name}"
    if is_async and not awaited and name not in EITHER:
        yield f"{_place(cls, name, function)} is not awaited; write def {name}, without async"


def _gives_awaitable(function: FunctionType) -> bool:
    """A function that is not ``async`` may wrap one that is, or say so."""
    declared = str(function.__annotations__.get("return", ""))
    return hasattr(function, "__wrapped__") or any(word in declared for word in ("Awaitable", "Coroutine", "Future", "Task"))


def _arguments(spec: FunctionType) -> dict[str, bool]:
    _, *parameters = inspect.signature(spec).parameters.values()
    return {parameter.name: parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters}


def _called(name: str, arguments: Mapping[str, bool]) -> str:
    return f"{name}({', '.join(f'{a}=…' if by_name else a for a, by_name in arguments.items())})"


def _place(cls: type, name: str, function: FunctionType) -> str:
    return f"{cls.__qualname__}.{name} ({show_path(Path(function.__code__.co_filename))}:{function.__code__.co_firstlineno})"
