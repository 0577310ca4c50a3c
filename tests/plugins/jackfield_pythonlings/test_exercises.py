from __future__ import annotations

from pathlib import Path

from jackfield_pythonlings.exercises import Exercise, defined, read


def test_reading(wheel: Path) -> None:
    """The comment becomes the statement, the rest the program, the check loses its closing print; unfit checks are left out."""
    first, second = read(wheel)
    assert first == Exercise(
        name="functions3",
        topic="functions",
        statement="Define `double` so that\n  it doubles.",
        start="def double():\n    return n * 2",
        tests="assert double(3) == 6, 'twice'\nresult = double(0)\nassert result == 0",
        solution="def double(n):\n    return n * 2",
    )
    assert second.name == "async9"
    assert defined(first) == {"double"}
