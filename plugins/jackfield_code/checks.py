"""What a task asks of a program: Python tests, or inputs with their outputs. Nothing here is run."""

from __future__ import annotations

import ast
from typing import Any

from attrs import frozen

from jackfield.types import Task
from jackfield_code.harness import is_test

SPELLINGS = (("stdin", "stdout"), ("input", "output"))

EXPECTED = "expected an assert, a call or a block with one at the top level, or in a function 'test…' without arguments"


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
        compile(tree, "tests.py", "exec", dont_inherit=True)  # also finds a return outside a function
    except (SyntaxError, ValueError) as error:
        raise BadChecks(f"'tests' is not Python: {error}") from error
    for statement in tree.body:
        if isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("unittest.main("):
            raise BadChecks(f"'tests', line {statement.lineno}, calls unittest.main(), which finds no tests here; {EXPECTED}")
    if not any(map(is_test, tree.body)):
        raise BadChecks(f"'tests' tests nothing: found {_found(tree)}; {EXPECTED}")
    return source


def _found(tree: ast.Module) -> str:
    """The first lines of what cannot fail or does not run."""
    lines = [ast.unparse(statement).splitlines()[0][:40] for statement in tree.body]
    return ", ".join(f"`{line}`" for line in lines[:3]) + (", …" if lines[3:] else "") or "no statement"


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
