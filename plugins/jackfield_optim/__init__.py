"""Optimizers with their learning-rate schedules."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_optimizers(register: Register) -> None:
    register("adamw", "jackfield_optim.adamw:AdamW", "AdamW with warm-up and a constant, linear or cosine learning rate.")
