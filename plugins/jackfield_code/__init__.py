"""Programs the policy wrote, judged by running them against the task's tests in a process of their own."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_rewards(register: Register) -> None:
    register("code_tests", "jackfield_code.reward:CodeTests", "The part of the task's tests that the written program passes.")
