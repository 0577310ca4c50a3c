"""The tool as an environment calls it."""

from __future__ import annotations

import asyncio

from jackfield.testing.contracts import check_tool
from jackfield.types import Observation
from jackfield_calculator.tool import Calculator


def test_a_value_and_a_failure() -> None:
    """A value is the one part of the observation; what cannot be computed is a failure to read, not an exception."""
    call = Calculator().call
    assert asyncio.run(call("1988 - 1918")) == Observation(parts=("70",))
    assert asyncio.run(call("1 / 0")) == Observation(failure="division by zero")


def test_contract() -> None:
    """Any text is answered."""
    check_tool(Calculator())
