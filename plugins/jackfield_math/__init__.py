"""Mathematical answers: compared as mathematics, exactly, in a process that can be killed."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_rewards(register: Register) -> None:
    register("math", "jackfield_math.reward:Math", "1 if the answer equals a gold answer as mathematics, exactly.", extra="math")
