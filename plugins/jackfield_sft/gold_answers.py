"""Gold answers as recorded attempts: any question answering data for supervised fine-tuning."""

from __future__ import annotations

from typing import Literal

from attrs import evolve, frozen

from jackfield.component import option, part
from jackfield.errors import DataError, Problem
from jackfield.stages import Data
from jackfield.types import Task


@frozen(kw_only=True)
class GoldAnswers:
    """The tasks of other data, each with one recorded attempt of one turn: its first gold answer that is not blank. What those data
    recorded is dropped."""

    of: Data = part("data", help="the data whose answers are learnt")
    template: str = option(
        "{answer}",
        help="the recorded turn; {answer} is the first gold answer",
        check=lambda text: None if "{answer}" in text else "lacks {answer}, the place where the answer goes",
    )

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """In the order of the data. Raises DataError listing the tasks without a gold answer."""
        tasks = self.of.tasks(split)
        gold = [next(filter(str.strip, task.answers), None) for task in tasks]
        if missing := [task for task, answer in zip(tasks, gold, strict=True) if answer is None]:
            raise DataError([Problem(task.origin, f"task {task.id}", "has no gold answer to learn") for task in missing])
        return [
            evolve(task, recorded=((self.template.replace("{answer}", answer or ""),),))
            for task, answer in zip(tasks, gold, strict=True)
        ]
