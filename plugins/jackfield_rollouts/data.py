"""Three kinds of tasks out of rollouts that were sampled and judged: the offline side of the policy's own experience."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Literal

from attrs import frozen

from jackfield.component import at_least, option
from jackfield.errors import DataError, Problem
from jackfield.types import Message, Task
from jackfield_rollouts.reading import Attempt, attempts

_PLACEHOLDER = re.compile(r"\{question\}|\{answers\}|\{completion\}")
_PATH_HELP = "folder of the run, or of one of its checkpoints; or `from`, the recipe that makes it"
_SOURCE_HELP = "the reward source whose verdict is the label; unset: the reward"


@frozen(kw_only=True)
class SampledPairs:
    """For every group whose members were judged differently, the best against the worst, as two recorded attempts (``recorded`` = better,
    worse; their labels in ``extra["scores"]``): what ``[advantage] use = "pairs"`` with a loss such as ``dpo`` or ``bradley_terry`` learns from.

    With ``pairs_per_group`` above 1 the second best against the second worst and so on, as long as their labels differ. Attempts cut off by
    a budget are left out (their recorded text has no end to learn), and so is a pair that says the same. One question in five is held out.
    """

    path: str = option(help=_PATH_HELP)
    source: str | None = option(None, help=_SOURCE_HELP)
    pairs_per_group: int = option(1, help="at most so many pairs of a group", check=at_least(1))

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """Raises DataError if the run holds no such pair."""
        return _some(
            [task for group in _groups(self.path, split, self.source) for task in self._pairs(group)], self.path, split, "pair"
        )

    def _pairs(self, group: list[Attempt]) -> Iterator[Task]:
        ranked = sorted(group, key=lambda attempt: (-attempt.label, attempt.member))
        for number in range(min(self.pairs_per_group, len(ranked) // 2)):
            better, worse = ranked[number], ranked[-1 - number]
            if better.label > worse.label and better.turns != worse.turns:
                scores = {"scores": (better.label, worse.label)}
                yield _task(better, f"{better.group}/{number}", better.prompt, (better.turns, worse.turns), scores)


@frozen(kw_only=True)
class SampledBest:
    """Every attempt judged above ``threshold``, as a recorded one: rejection sampling, then supervised learning on what is left.

    What was said twice to one question counts once. Attempts cut off by a budget are left out. One question in five is held out.
    """

    path: str = option(help=_PATH_HELP)
    source: str | None = option(None, help=_SOURCE_HELP)
    threshold: float = option(0.0, help="labels above this are good")

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """Raises DataError if no attempt is good."""
        found = _distinct(a for group in _groups(self.path, split, self.source) for a in group if a.label > self.threshold)
        tasks = [_task(a, f"{a.group}/{a.member}", a.prompt, (a.turns,), {}) for a in found]
        return _some(tasks, self.path, split, f"attempt with a label above {self.threshold}")


@frozen(kw_only=True)
class SampledVerdicts:
    """A judge's exercises: a prompt that shows question and attempt, and the verdict as the recorded answer, ``right`` or ``wrong``.

    ``template`` holds ``{question}`` and ``{completion}``, and ``{answers}`` (a line each) for a judge that is shown the right ones; it
    must be what the judge will be shown. What was said twice to one question
    counts once. There are as many right attempts as wrong ones; what is left over of one kind is dropped. One question in five is held out.
    """

    path: str = option(help=_PATH_HELP)
    source: str | None = option(None, help=_SOURCE_HELP)
    threshold: float = option(0.0, help="labels above this are right")
    template: str = option(help="the judge's prompt, with {question} and {completion}, and {answers} if it shall see them")
    right: str = option("Verdict: yes", help="what the judge shall say of a right attempt")
    wrong: str = option("Verdict: no", help="what the judge shall say of a wrong attempt")

    def __attrs_post_init__(self) -> None:
        missing = [name for name in ("{question}", "{completion}") if name not in self.template]
        if missing:
            raise ValueError(f"template: must hold {' and '.join(missing)}")

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """Right and wrong in turn. Raises DataError if the run does not hold both."""
        found = list(_distinct(a for group in _groups(self.path, split, self.source, cut_off=True) for a in group))
        right = [self._exercise(a, self.right) for a in found if a.label > self.threshold]
        wrong = [self._exercise(a, self.wrong) for a in found if a.label <= self.threshold]
        return _some(
            [task for pair in zip(right, wrong, strict=False) for task in pair], self.path, split, "right and wrong attempt"
        )

    def _exercise(self, attempt: Attempt, verdict: str) -> Task:
        answers = "\n".join(attempt.answers)
        given = {"{question}": attempt.question, "{answers}": answers, "{completion}": "".join(attempt.turns)}
        shown = _PLACEHOLDER.sub(lambda found: given[found[0]], self.template)
        prompt = (Message(role="user", content=shown),)
        return _task(attempt, f"{attempt.group}/{attempt.member}", prompt, ((verdict,),), {})


def _groups(path: str, split: str, source: str | None, *, cut_off: bool = False) -> Iterator[list[Attempt]]:
    for _, group in groupby(attempts(path, split, source), key=lambda attempt: attempt.group):
        yield [attempt for attempt in group if cut_off or not attempt.truncated]


def _distinct(found: Iterator[Attempt]) -> Iterator[Attempt]:
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for attempt in found:
        if (key := (attempt.question, attempt.turns)) not in seen:
            seen.add(key)
            yield attempt


def _task(
    attempt: Attempt,
    name: str,
    prompt: tuple[Message, ...],
    recorded: tuple[tuple[str, ...], ...],
    extra: Mapping[str, tuple[float, ...]],
) -> Task:
    return Task(
        id=f"rollouts/{name}", prompt=prompt, answers=attempt.answers, recorded=recorded, extra=extra, origin=attempt.origin
    )


def _some(tasks: list[Task], path: str, split: str, what: str) -> list[Task]:
    if not tasks:
        raise DataError(Problem("", "data", f"the rollouts of {path} hold no {what} for the {split} split"))
    return tasks
