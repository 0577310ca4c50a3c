"""A calculator that a policy may call."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_tools(register: Register) -> None:
    register("calculator", "jackfield_calculator.tool:Calculator", "Exact arithmetic: + - * / // % (remainder) ** and brackets.")
