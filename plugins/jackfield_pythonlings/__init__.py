"""Short Python exercises with checks: programs to complete, judged by running them."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_data(register: Register) -> None:
    register("pythonlings", "jackfield_pythonlings.data:Pythonlings", "264 short Python programs to complete, with tests.")
