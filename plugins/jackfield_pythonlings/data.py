"""The exercises as tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import frozen

from jackfield.component import option
from jackfield.packages import fetch
from jackfield.seeds import derive
from jackfield.types import Message, Task
from jackfield_pythonlings.exercises import REQUIREMENT, SHA256, Exercise, defined, read

TEST_SHARE = 5
"""One in so many families of exercises is held out."""


@frozen(kw_only=True)
class Pythonlings:
    """Short Python programs to complete (pythonlings, MIT), easy enough for small models: what to do, and the program with its gaps.

    ``extra["tests"]`` is Python that asserts, to be run in the module of the whole finished program (reward ``code_tests``). Exercises
    whose check reads the program's source or touches files, or that must run as the main program, are left out. The label ``topic`` is the chapter.

    Exercises that ask for a function or class of one name (``double``, ``is_palindrome``) stay on one side of the split.
    """

    solutions: bool = option(False, help="record the package's solution as an attempt, for a supervised warm start")

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """In the package's order, from simple variables to asynchronous functions."""
        exercises = read(fetch(REQUIREMENT, SHA256))
        families = family_heads({exercise.name: defined(exercise) for exercise in exercises})
        return [self._task(split, e) for e in exercises if _is_tested(families[e.name]) == (split == "test")]

    def _task(self, split: str, exercise: Exercise) -> Task:
        question = f"{exercise.statement}\n\n{_block(exercise.start)}"
        return Task(
            id=f"pythonlings/{split}-{exercise.name}",
            prompt=(Message(role="user", content=question),),
            recorded=((_block(exercise.solution),),) if self.solutions else (),
            labels={"topic": exercise.topic},
            extra={"tests": exercise.tests},
            origin=f"pythonlings: {exercise.name}",
        )


def family_heads(names: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Exercise → the first, in the alphabet, of those it is linked with by a name they define, through others too."""
    heads = {exercise: exercise for exercise in names}
    for sharing in _sharing(names):
        linked = {heads[exercise] for exercise in sharing}
        heads = {exercise: min(linked) if head in linked else head for exercise, head in heads.items()}
    return heads


def _sharing(names: Mapping[str, frozenset[str]]) -> Sequence[list[str]]:
    """For every defined name the exercises that define it."""
    return [[exercise for exercise, own in names.items() if name in own] for name in sorted(frozenset().union(*names.values()))]


def _is_tested(head: str) -> bool:
    return derive("pythonlings held out", head) % TEST_SHARE == 0


def _block(program: str) -> str:
    return f"```python\n{program}\n```"
