"""Puzzles as tasks, the test questions kept out of training."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any, Literal

from attrs import field, frozen

from jackfield.component import HELP, at_least, option
from jackfield.seeds import derive
from jackfield.types import Message, Task
from jackfield_reasoning.generators import generator, require_steady
from jackfield_reasoning.syllogism import mended

FIRST_SEED = {"train": 0, "test": 1_000_000_000}
"""Item i of a split is drawn with this seed plus i. Neighbouring seeds would share all items but one."""

_log = logging.getLogger(__name__)
_Value = bool | int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]


@frozen(kw_only=True)
class ReasoningGym:
    """``num_train`` and ``num_test`` questions drawn from a generator (``chain_sum``, ``countdown``, ``leg_counting`` …; see its
    documentation for the hundred others and their keys). The reward ``reasoning_gym`` scores the answers.

    A split keeps the first of equal questions, and the training split none that the test split asks, so small generators give fewer
    tasks than drawn; the log says how many. A task's id has the number it was drawn with, so more tasks leave the others as they are.
    Nothing is cached on disk: scorers read values that JSON does not keep.

    Answers of ``syllogism`` are worked out here: one in eight of the package's is wrong.

    ``gsm_symbolic`` is made from GSM8K's test questions: whoever trains on it cannot report GSM8K.
    """

    dataset: str = option(help="the generator")
    config: dict[str, _Value] = field(
        factory=dict, metadata={HELP: "the generator's own keys, such as {min_terms = 2, max_terms = 3}"}
    )
    num_train: int = option(2000, help="training questions drawn", check=at_least(0))
    num_test: int = option(100, help="test questions drawn", check=at_least(0))

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """In the order drawn. The label is the generator; ``extra["reasoning_gym"]`` is what the reward needs.

        Raises UserError if Reasoning Gym is not installed, has no such generator, or the generator has no such keys.
        """
        require_steady(self.dataset)
        if self.dataset == "gsm_symbolic" and split == "train":
            _log.warning("gsm_symbolic is made from GSM8K's test questions: do not report GSM8K for what is trained on it")
        drawn = list(self._distinct(split))
        if split == "test":
            return [task for task, _ in drawn]
        tested = {asked for _, asked in self._distinct("test")}
        kept = [task for task, asked in drawn if asked not in tested]
        if len(kept) < self.num_train:
            _log.warning("%s: %d of %d training questions are repeated or tested, and left out",
                         self.dataset, self.num_train - len(kept), self.num_train)  # fmt: skip
        return kept

    def _distinct(self, split: Literal["train", "test"]) -> Iterator[tuple[Task, str]]:
        """Tasks with their question as it is compared: in lower case, white space as one space."""
        count = self.num_train if split == "train" else self.num_test
        if not count:
            return
        items = generator(self.dataset, self.config, seed=FIRST_SEED[split], size=count)
        variant = derive(self.dataset, json.dumps(self.config, sort_keys=True)) % 16**6
        seen: set[str] = set()
        for number in range(count):
            entry = mended(items[number]) if self.dataset == "syllogism" else items[number]
            asked = " ".join(entry["question"].lower().split())
            if asked not in seen:
                seen.add(asked)
                yield self._task(f"reasoning_gym/{self.dataset}-{variant:06x}-{split}-{number:05d}", entry), asked

    def _task(self, task_id: str, entry: dict[str, Any]) -> Task:
        return Task(
            id=task_id,
            prompt=(Message(role="user", content=entry["question"]),),
            answers=() if entry["answer"] is None else (str(entry["answer"]),),
            labels={"dataset": self.dataset},
            extra={"reasoning_gym": {"dataset": self.dataset, "config": self.config, "entry": entry}},
        )
