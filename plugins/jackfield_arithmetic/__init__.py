"""Arithmetic problems from a generator: endless, checkable, nothing to download."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_data(register: Register) -> None:
    register("sums", "jackfield_arithmetic.sums:Sums", "Sums of a few small numbers, generated.")
    register(
        "running_sums",
        "jackfield_arithmetic.running_sums:RunningSums",
        "Sums in steps, right or wrong, with a label for every step.",
    )
