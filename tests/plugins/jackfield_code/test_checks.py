from __future__ import annotations

from typing import Any

import pytest

from jackfield.types import Task
from jackfield_code.checks import BadChecks, Case, Checks, checks_of


def task(**extra: Any) -> Task:
    return Task(id="t", prompt=(), extra=extra)


def test_what_a_row_can_hold() -> None:
    """Python source as text or texts; cases in two spellings; or nothing."""
    assert checks_of(task()) is None
    assert checks_of(task(tests="assert f() == 1")) == Checks(source="assert f() == 1")
    assert checks_of(task(tests=["x = 1", "assert f() == x"])) == Checks(source="x = 1\nassert f() == x")
    cases = [{"stdin": "1", "stdout": "2"}, {"input": "3", "output": "4"}]
    assert checks_of(task(cases=cases)) == Checks(cases=(Case(stdin="1", stdout="2"), Case(stdin="3", stdout="4")))


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"tests": "assert f("}, "'tests' is not Python"),
        ({"tests": "x = 1\ndef helper(): ...\n"}, "tests nothing"),
        ({"tests": 1}, "must be Python source, found int"),
        ({"tests": "f()", "cases": []}, "both"),
        ({"cases": []}, "a list that is not empty"),
        ({"cases": [{"stdin": "1"}]}, "'cases.0' must hold the texts 'stdin' and 'stdout'"),
    ],
)
def test_unusable(extra: dict[str, Any], message: str) -> None:
    """D1: a row whose tests could judge nothing says why."""
    with pytest.raises(BadChecks, match=message):
        checks_of(task(**extra))


def test_printed() -> None:
    """White space at the end of lines and of everything is no matter; at their start it is."""
    case = Case(stdin="", stdout="1\n2\n")
    assert case.is_met_by("1  \n2")
    assert case.is_met_by("1\r\n2\n\n")
    assert not case.is_met_by(" 1\n2")
    assert not case.is_met_by("1 2")
