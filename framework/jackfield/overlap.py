"""Are the test questions among the training questions? Asked before an evaluation, for a score on what was trained on is no score.

Questions are compared as words and symbols, without case, width or a final ``?`` or ``.``. Two kinds of overlap are told apart:

- a **duplicate**: the whole question is a training question;
- a **near** one: of its 5-grams, at least ``SHARE`` stand in one and the same training question. 5-grams that are in more than
  ``WORDING_COUNT`` training questions, or in a share of more than ``WORDING_SHARE`` of them (of few questions), are the data set's wording
  (templates, instructions), not a question's text, and don't count.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from jackfield.errors import Problem, UserError
from jackfield.types import Task

if TYPE_CHECKING:
    from jackfield.recipe import Recipe

N = 5
SHARE = 0.7
WORDING_COUNT = 10
WORDING_SHARE = 0.05
_WORDS = re.compile(r"\w+|[^\w\s]")
_SHOWN = 5

Words = tuple[str, ...]


@frozen(kw_only=True)
class Shared:
    """A test question and the training question it shares its text with, by task id."""

    test: str
    train: str
    share: float
    """Of the test question's 5-grams; 1 for a duplicate."""


@frozen(kw_only=True)
class Overlap:
    """What of a test split was seen in training."""

    train: int
    """Training questions looked at."""
    duplicates: tuple[Shared, ...]
    near: tuple[Shared, ...]

    def require_none(self, place: str) -> None:
        """Raises UserError naming test questions that are training questions, if there are any."""
        if not self.duplicates:
            return
        found = [
            Problem(place, f"task {pair.test}", f"its question is that of training task {pair.train}") for pair in self.duplicates
        ]
        more = [Problem("", "", f"… and {len(found) - _SHOWN} more")] if len(found) > _SHOWN else []
        advice = (
            "an evaluation on training questions tells nothing; mend the split, or say --overlap report to evaluate all the same"
        )
        raise UserError([*found[:_SHOWN], *more, Problem("", "", advice)])


def overlap(test: Sequence[Task], train: Iterable[Task]) -> Overlap:
    """Every test question against every training question."""
    seen: dict[Words, str] = {}
    for task in train:
        if text := words(task):
            seen.setdefault(text, task.id)
    questions = list(seen)
    index = _index(questions)
    duplicates, near = [], []
    for task in test:
        text = words(task)
        if text in seen:
            duplicates.append(Shared(test=task.id, train=seen[text], share=1.0))
        elif (found := _nearest(text, index)) is not None and found[1] >= SHARE:
            near.append(Shared(test=task.id, train=seen[questions[found[0]]], share=found[1]))
    return Overlap(train=len(seen), duplicates=tuple(duplicates), near=tuple(near))


def training_tasks(recipe: Recipe) -> Iterator[Task]:
    """What the recipe trains on, and what the recipes its weights come from trained on."""
    asked = []
    for link in _links(recipe):
        if link.corridor.run.steps and link.corridor.data not in asked:
            asked.append(link.corridor.data)
            yield from link.corridor.data.tasks("train")


def words(task: Task) -> Words:
    """What a user says in the prompt, as words and symbols: ``"What is 4 + 3?"`` → ``("what", "is", "4", "+", "3")``."""
    said = "\n".join(message.content for message in task.prompt if message.role == "user")
    return tuple(_WORDS.findall(unicodedata.normalize("NFKC", said).casefold().rstrip(" \n?.")))


def _links(recipe: Recipe) -> Iterator[Recipe]:
    yield recipe
    for source in recipe.chained.values():
        yield from _links(source)


def _grams(text: Words) -> set[Words]:
    return {text[start : start + N] for start in range(len(text) - N + 1)}


def _index(questions: Sequence[Words]) -> Mapping[Words, Sequence[int]]:
    """5-gram → the questions it is in; empty for the data set's wording."""
    index: dict[Words, list[int]] = {}
    for number, text in enumerate(questions):
        for gram in _grams(text):
            index.setdefault(gram, []).append(number)
    most = min(WORDING_COUNT, max(1, WORDING_SHARE * len(questions)))
    return {gram: found if len(found) <= most else () for gram, found in index.items()}


def _nearest(text: Words, index: Mapping[Words, Sequence[int]]) -> tuple[int, float] | None:
    """The question that has most of the text's own 5-grams, and what share of them; None if no question has any."""
    own = [gram for gram in _grams(text) if index.get(gram) != ()]
    hits: Counter[int] = Counter()
    for gram in own:
        hits.update(index.get(gram, ()))
    if not hits:
        return None
    number, count = max(hits.items(), key=lambda hit: (hit[1], -hit[0]))
    return number, count / len(own)
