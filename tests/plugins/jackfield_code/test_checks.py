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
        ({"tests": "return 1"}, "'tests' is not Python: 'return' outside function"),
        ({"tests": ""}, "tests nothing: found no statement; expected an assert, a call or a block with one"),
        (
            {"tests": "assert f()\nunittest.main()"},
            r"'tests', line 2, calls unittest.main\(\), which finds no tests here; expected",
        ),
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


@pytest.mark.parametrize(
    "source",
    [
        "'What f should give.'",
        "1\nTrue\n...",
        "f() == 1",
        "print(f())",
        "assert True",
        "assert (f() == 1, 'says what is wrong')",
        "if __name__ == '__main__':\n    assert f() == 1",
        "if '__main__' == __name__:\n    unittest.main()",
        "class Test(unittest.TestCase):\n    def test_f(self): assert f() == 1",
        "def check(f):\n    assert f() == 1",
        "async def test_f(): assert f() == 1",
        "def test_f(f): assert f() == 1",
        "def test_f(*, f): assert f() == 1",
        "def test_f():\n    'It should.'\n    return f() == 1",
        "for i in range(3):\n    i",
        "try:\n    right = f() == 1\nexcept ValueError:\n    right = False",
    ],
)
@pytest.mark.filterwarnings("ignore:assertion is always true:SyntaxWarning")
def test_what_asserts_nothing(source: str) -> None:
    """D1: it would pass every program. Such a row is refused with what it holds."""
    with pytest.raises(BadChecks, match="'tests' tests nothing: found `"):
        checks_of(task(tests=source))


@pytest.mark.parametrize(
    "source",
    [
        "assert f() == 1",
        "check(f)",
        "def test_f(): assert f() == 1",
        "for i in range(3):\n    if i:\n        assert f() == 1",
        "i = 0\nwhile i < 3:\n    assert f() == 1\n    i += 1",
        "try:\n    f()\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError",
        "match f():\n    case 1: pass\n    case _: raise AssertionError",
        "with raises(ValueError):\n    x = f()",
        "if __name__ == '__main__':\n    pass\nelse:\n    assert f() == 1",
    ],
)
def test_what_asserts_something(source: str) -> None:
    """At the top level, or in what runs there."""
    assert checks_of(task(tests=source)) == Checks(source=source)


def test_printed() -> None:
    """White space at the end of lines and of everything is no matter; at their start it is."""
    case = Case(stdin="", stdout="1\n2\n")
    assert case.is_met_by("1  \n2")
    assert case.is_met_by("1\r\n2\n\n")
    assert not case.is_met_by(" 1\n2")
    assert not case.is_met_by("1 2")
