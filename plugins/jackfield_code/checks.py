"""What a task asks of a program: Python tests, or inputs with their outputs. Nothing here is run."""

from __future__ import annotations

import ast
from typing import Any

from attrs import frozen

from jackfield.types import Task
from jackfield_code.harness import is_test

SPELLINGS = (("stdin", "stdout"), ("input", "output"))


class BadChecks(Exception):
    """The row's tests cannot be used; the message says why."""


@frozen(kw_only=True)
class Case:
    """What a program reads and what it must print.

    Example: ``Case(stdin="2 3\\n", stdout="5\\n")``
    """

    stdin: str
    stdout: str

    def is_met_by(self, printed: str) -> bool:
        """White space at the end of lines and of all of it does not count."""
        return _trimmed(printed) == _trimmed(self.stdout)


@frozen(kw_only=True)
class Checks:
    """Either Python source or cases.

    Example: ``Checks(source="assert add(2, 3) == 5")``
    """

    source: str = ""
    cases: tuple[Case, ...] = ()


def checks_of(task: Task) -> Checks | None:
    """From ``task.extra``: ``tests``, Python source (text, or a list of texts), or ``cases``, a list of ``{"stdin": …, "stdout": …}``
    (also ``input``/``output``). None if the row has neither; raises BadChecks if it has both, or they cannot be used."""
    source, cases = task.extra.get("tests"), task.extra.get("cases")
    if source is not None and cases is not None:
        raise BadChecks("has both 'tests' and 'cases'")
    if source is not None:
        return Checks(source=_source(source))
    return None if cases is None else Checks(cases=_cases(cases))


def _source(given: Any) -> str:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise BadChecks(f"'tests' must be Python source, found {type(given).__name__}")
    source = "\n".join(texts)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise BadChecks(f"'tests' is not Python: {error}") from error
    if not any(is_test(statement) for statement in tree.body):
        raise BadChecks("'tests' tests nothing: no assert, call or test function at its top level")
    return source


def _cases(given: Any) -> tuple[Case, ...]:
    if not isinstance(given, list | tuple) or not given:
        raise BadChecks("'cases' must be a list that is not empty")
    return tuple(_case(number, case) for number, case in enumerate(given))


def _case(number: int, given: Any) -> Case:
    for stdin, stdout in SPELLINGS:
        if isinstance(given, dict) and isinstance(given.get(stdin), str) and isinstance(given.get(stdout), str):
            return Case(stdin=given[stdin], stdout=given[stdout])
    raise BadChecks(f"'cases.{number}' must hold the texts 'stdin' and 'stdout', found {str(given)[:60]}")


def _trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]
