"""Sums of a few small numbers, drawn from the task's number: the same task is the same problem in every run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar, Literal

from attrs import frozen

from jackfield.component import at_least, option
from jackfield.seeds import derive
from jackfield.types import Message, Task

TEST_SHARE = 5
"""One in so many sets of numbers is held out for the test split."""


@frozen(kw_only=True)
class Sums:
    """``State the final answer to this sum: 4 + 3 =``. The answer is the number alone.

    The splits hold different sums: one set of numbers in five is only ever tested, in any order (if 4 + 3 is tested, 3 + 4 is not trained
    on either). There are only 100 sums of two one-digit numbers, of 55 different pairs, so that tasks of the defaults repeat; repeated
    sums are tasks of their own, with their own ids. What a model learns from so few sums is partly learnt by heart.

    A worked answer adds one number after another: ``<think>4 + 3 = 7, 7 + 5 = 12</think><answer>12</answer>``.
    """

    self_contained: ClassVar[bool] = True

    digits: int = option(1, help="of every number; one-digit numbers are 0 to 9", check=at_least(1))
    terms: int = option(2, help="numbers to add", check=at_least(2))
    num_train: int = option(1000, help="training tasks", check=at_least(0))
    num_test: int = option(100, help="test tasks", check=at_least(0))
    demonstrations: bool = option(False, help="record a worked answer a task, for supervised training")

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """A task depends on ``digits``, ``terms`` and its own number only; more tasks leave the first ones as they are."""
        return [self._task(split, number) for number in range(self.num_train if split == "train" else self.num_test)]

    def _task(self, split: str, number: int) -> Task:
        numbers = self._draw(split, number)
        question = f"State the final answer to this sum: {' + '.join(map(str, numbers))} ="
        return Task(
            id=f"sums/{self.digits}x{self.terms}-{split}-{number:05d}",
            prompt=(Message(role="user", content=question),),
            answers=(str(sum(numbers)),),
            recorded=((worked(numbers),),) if self.demonstrations else (),
        )

    def _draw(self, split: str, number: int) -> list[int]:
        rng = random.Random(derive("sums", self.digits, self.terms, split, number))
        low = 0 if self.digits == 1 else 10 ** (self.digits - 1)
        while True:
            numbers = [low + int(rng.random() * (10**self.digits - low)) for _ in range(self.terms)]
            if _is_test(numbers) == (split == "test"):
                return numbers


def worked(numbers: Sequence[int]) -> str:
    """The sum, one number after another, and the answer."""
    totals = list(accumulate(numbers))
    steps = [f"{before} + {added} = {after}" for before, added, after in zip(totals, numbers[1:], totals[1:], strict=False)]
    return f"<think>{', '.join(steps)}</think><answer>{totals[-1]}</answer>"


def _is_test(numbers: list[int]) -> bool:
    return derive("held out", *sorted(numbers)) % TEST_SHARE == 0
