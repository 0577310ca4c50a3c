from __future__ import annotations

import asyncio
import itertools
import time

import pytest

from jackfield.errors import UserError
from jackfield_judge.limits import Budget, Pace


def test_requests_are_spaced():
    """600 a minute: at least 0.1 s between any two, however many wait at once."""
    pace = Pace(600)
    went: list[float] = []

    async def one() -> None:
        await pace.turn()
        went.append(time.monotonic())

    async def all_at_once() -> None:
        await asyncio.gather(*(one() for _ in range(4)))

    asyncio.run(all_at_once())
    assert all(later - earlier >= 0.099 for earlier, later in itertools.pairwise(went))


def test_a_pause_holds_everybody():
    """Also without a limit of one's own; a shorter pause does not end a longer one."""
    pace = Pace(0)
    start = time.monotonic()
    pace.pause(0.2)
    pace.pause(0.01)
    asyncio.run(pace.turn())
    assert time.monotonic() - start >= 0.199


def test_a_spent_budget_is_told():
    """Requests are counted before they go, tokens when they are reported."""
    budget = Budget(2, None)
    budget.take()
    budget.take()
    with pytest.raises(UserError, match=r"max_requests = 2: the budget of one process is spent"):
        budget.take()
    tokens = Budget(None, 100)
    tokens.take()
    tokens.spend(100)
    with pytest.raises(UserError, match=r"max_tokens = 100"):
        tokens.take()
    with pytest.raises(UserError, match="does not report tokens"):
        Budget(None, 100).spend(None)
    Budget(None, None).spend(None)
