"""Reasoning Gym: a hundred generators of checkable puzzles, with their scorers."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_data(register: Register) -> None:
    register(
        "reasoning_gym",
        "jackfield_reasoning.data:ReasoningGym",
        "Puzzles from one of Reasoning Gym's generators.",
        extra="reasoning",
    )


@hookimpl
def jackfield_rewards(register: Register) -> None:
    register(
        "reasoning_gym",
        "jackfield_reasoning.score:ReasoningGymScore",
        "What Reasoning Gym's scorer gives the answer.",
        extra="reasoning",
    )
