"""Drawing tasks is a pure function of the seed and the count."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jackfield.task_order import draw
from jackfield.types import Task

TASKS = [Task(id=str(i), prompt=()) for i in range(7)]


@given(st.integers(0, 30), st.integers(1, 20), st.integers(1, 20))
def test_two_draws_are_one(drawn: int, first: int, second: int) -> None:
    """Stopping between two draws changes nothing."""
    both = draw(TASKS, seed=1, drawn=drawn, count=first + second)
    apart = draw(TASKS, seed=1, drawn=drawn, count=first) + draw(TASKS, seed=1, drawn=drawn + first, count=second)
    assert both == apart


def test_every_pass_has_every_task_in_another_order() -> None:
    """No task is left out of an epoch, the last ones included."""
    passes = [draw(TASKS, seed=1, drawn=7 * e, count=7) for e in range(3)]
    assert all(sorted(t.id for t in p) == sorted(t.id for t in TASKS) for p in passes)
    assert len({tuple(t.id for t in p) for p in passes}) == 3
    assert draw(TASKS, seed=2, drawn=0, count=7) != passes[0]
