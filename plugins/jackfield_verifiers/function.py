"""Judge by any Python function of the user."""

from __future__ import annotations

import inspect
import numbers
import traceback
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from jackfield.component import option
from jackfield.errors import UserError
from jackfield.types import Rollout, Task, Verdict
from jackfield_verifiers.source import Source

if TYPE_CHECKING:
    from jackfield.corridor import Corridor
    from jackfield.stages import Tokenizer

GIVEN = ("completion", "answers", "task", "rollout")


def _named(function: Any) -> str | None:
    place, _, name = str(function).rpartition(":")
    return (
        None
        if place and name.isidentifier()
        else f"must be 'package.module:name' or './file.py:name', found '{Path(function).name}'"
    )


@frozen(kw_only=True, slots=False)
class Function:
    """What a Python function of yours says: ``function = "package.module:name"``, or ``"./file.py:name"`` relative to the recipe's file.

    It is called once a rollout, with those of these that it has parameters for, by name: ``completion`` (all the policy wrote),
    ``answers`` (the gold answers, a tuple), ``task``, ``rollout``, and every key of the row's ``extra``. A row that lacks a key for a
    parameter without default is refused before the run. It may be ``async``; one that is not holds up all others while it works. It
    returns

    - a number or a bool: the score;
    - None: not applicable, the other rewards count as usual;
    - a dict with ``score`` (or ``reward``) and, if you like, ``reason``, ``parsed`` and further numbers, which become metrics;
    - a ``jackfield.types.Verdict``.

    Anything else, NaN, a score outside ``low`` … ``high``, and an exception are an error of this rollout that names the function: never
    a score of 0.
    """

    function: Path = option(help='"package.module:name", or "./file.py:name" relative to this file', check=_named)
    low: float | None = option(None, help="the lowest score it may give; unset: any")
    high: float | None = option(None, help="the highest score it may give; unset: any")

    def __attrs_post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"low: must be below high, found {self.low} and {self.high}")

    def check_recipe(self, corridor: Corridor) -> list[str]:  # noqa: ARG002
        """What is missing, without importing it."""
        wrong = self._source.problem()
        return [] if wrong is None else [wrong]

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:  # noqa: ARG002
        """What the function asks for and the row lacks. Imports it: its text does not always tell. Raises UserError if that fails."""
        try:
            return self._missing(task)
        except UserError:
            raise
        except Exception as error:
            raise UserError(f"{self._source} cannot be loaded: {type(error).__name__}: {error} ({_where(error)})") from error

    @property
    def local_files(self) -> tuple[Path, ...]:
        """Its text is part of what results depend on."""
        file = self._source.local_file
        return () if file is None else (file,)

    async def judge(self, rollout: Rollout) -> Verdict:
        try:
            given = self._call(**self._arguments(rollout))
            if inspect.isawaitable(given):
                given = await given
        except UserError:
            raise
        except Exception as error:
            return Verdict.error(f"{self._source} raised {type(error).__name__}: {error} ({_where(error)})")
        try:
            return self._in_range(_verdict(given))
        except ValueError as error:
            return Verdict.error(f"{self._source} gave {error}")

    def _in_range(self, verdict: Verdict) -> Verdict:
        low, high = (-np.inf if self.low is None else self.low), (np.inf if self.high is None else self.high)
        if verdict.kind == "score" and not low <= verdict.value <= high:
            raise ValueError(f"{verdict.value:g} as score; expected one from {low:g} to {high:g}")
        return verdict

    @cached_property
    def _source(self) -> Source:
        return Source(str(self.function))

    @cached_property
    def _call(self) -> Callable[..., Any]:
        return self._source.load()

    @cached_property
    def _parameters(self) -> tuple[inspect.Parameter, ...]:
        return tuple(inspect.signature(self._call).parameters.values())

    def _missing(self, task: Task) -> str | None:
        """What the function asks for and neither has a default for nor is given."""
        starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        asked = (p.name for p in self._parameters if p.default is p.empty and p.kind not in starred)
        missing = next((name for name in asked if name not in GIVEN and name not in task.extra), None)
        if missing is None:
            return None
        keys = ", ".join(task.extra) or "none"
        return f"{self._source} asks for '{missing}', and there are only {', '.join(GIVEN)} and the row's own keys ({keys})"

    def _arguments(self, rollout: Rollout) -> dict[str, Any]:
        task = rollout.task
        if missing := self._missing(task):
            raise UserError(f"{task.origin or task.id}: {missing}")
        given = {**task.extra, "completion": rollout.completion, "answers": task.answers, "task": task, "rollout": rollout}
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in self._parameters):
            return given
        return {parameter.name: given[parameter.name] for parameter in self._parameters if parameter.name in given}


def _verdict(given: Any) -> Verdict:
    """Raises ValueError, naming what was given, if it is no verdict."""
    if isinstance(given, Verdict):
        return given
    if given is None:
        return Verdict.abstain("not applicable: the function gave None")
    if isinstance(given, Mapping):
        return _from_dict(given)
    return Verdict.score(_number(given, "score"))


def _from_dict(given: Mapping[Any, Any]) -> Verdict:
    named = [key for key in ("score", "reward") if key in given]
    if len(named) != 1:
        raise ValueError(f"a dict with {' and '.join(named) or 'neither score nor reward'}: {given!r}"[:200])
    if given[named[0]] is None:
        return Verdict.abstain(str(given.get("reason") or "not applicable: the function gave None"))
    reason, parsed = str(given.get("reason", "")), given.get("parsed")
    extras = {str(key): _number(value, key) for key, value in given.items() if key not in (*named, "reason", "parsed")}
    return Verdict(
        kind="score",
        value=_number(given[named[0]], named[0]),
        reason=reason,
        parsed=None if parsed is None else str(parsed),
        extras=extras,
    )


def _number(value: Any, key: Any) -> float:
    if not isinstance(value, numbers.Real | np.bool_) or not np.isfinite(float(value)):
        raise ValueError(f"{value!r} as {key}; expected a finite number, a bool, None, a dict with 'score' or a Verdict"[:300])
    return float(value)


def _where(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"
