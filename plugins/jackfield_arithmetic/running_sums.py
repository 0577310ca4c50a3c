"""Sums worked out step by step, some steps wrong, with a label for every step."""

from __future__ import annotations

import random
from typing import ClassVar, Literal

from attrs import frozen

from jackfield.component import at_least, fraction, option
from jackfield.seeds import derive
from jackfield.types import Message, Task

TEST_SHARE = 5
"""One in so many additions is held out for the test split."""
_OFF = (-10, -3, -2, -1, 1, 2, 3, 10)
"""By how much a wrong step is off."""


@frozen(kw_only=True)
class RunningSums:
    """``Add the numbers one by one: 3, 4, 5, 6`` with a recorded attempt in steps, ``3 + 4 = 7``, ``7 + 5 = 13``, ``13 + 6 = 19``, and
    their labels in ``extra["step_labels"]``: 1, 0, 1.

    A step is right if its own addition is: one that goes on from a wrong number can be right. Wrong ones are off by 1, 2, 3 or 10. The
    splits share no addition, in either order: what the test split asks of a model trained here is never in training.
    """

    self_contained: ClassVar[bool] = True

    terms: int = option(4, help="numbers to add, from 1 to 9; one less is the number of steps", check=at_least(2))
    wrong: float = option(0.4, help="share of steps that are wrong", check=fraction)
    num_train: int = option(2000, help="training tasks", check=at_least(0))
    num_test: int = option(200, help="test tasks", check=at_least(0))

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """A task depends on ``terms``, ``wrong`` and its own number only; more tasks leave the first ones as they are."""
        return [self._task(split, number) for number in range(self.num_train if split == "train" else self.num_test)]

    def _task(self, split: str, number: int) -> Task:
        rng = random.Random(derive("running sums", self.terms, str(self.wrong), split, number))
        numbers, results = self._draw(rng, split == "test")
        starts = [numbers[0], *results]
        steps = [f"{a} + {b} = {c}" for a, b, c in zip(starts, numbers[1:], results, strict=False)]
        labels = [float(a + b == c) for a, b, c in zip(starts, numbers[1:], results, strict=False)]
        return Task(
            id=f"running_sums/{self.terms}-{self.wrong}-{split}-{number:05d}",
            prompt=(Message(role="user", content=f"Add the numbers one by one: {', '.join(map(str, numbers))}"),),
            answers=(str(sum(numbers)),),
            recorded=((*(f"{step}\n" for step in steps[:-1]), steps[-1]),),
            extra={"step_labels": (tuple(labels),)},
        )

    def _draw(self, rng: random.Random, test: bool) -> tuple[list[int], list[int]]:
        """The numbers, and what every step makes of them; begun anew where a result leads to no addition of the split."""
        while True:
            numbers, results = [_digit(rng)], list[int]()
            while len(results) < self.terms - 1:
                last = results[-1] if results else numbers[0]
                possible = [digit for digit in range(1, 10) if _is_test(last, digit) == test]
                if not possible:
                    break
                numbers.append(possible[int(rng.random() * len(possible))])
                results.append(_result(last + numbers[-1], rng, self.wrong))
            else:
                return numbers, results


def _digit(rng: random.Random) -> int:
    return 1 + int(rng.random() * 9)


def _result(right: int, rng: random.Random, wrong: float) -> int:
    off = [by for by in _OFF if right + by > 0]
    return right + off[int(rng.random() * len(off))] if rng.random() < wrong else right


def _is_test(one: int, other: int) -> bool:
    return derive("held out addition", *sorted((one, other))) % TEST_SHARE == 0
