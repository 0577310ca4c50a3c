"""The problems as tasks, and their graded answers as pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from attrs import frozen

from jackfield.component import at_least, option
from jackfield.seeds import derive
from jackfield.types import Message, Task
from jackfield_champ.build import Answer, Problem, load_problems
from jackfield_champ.solutions import Solution, load_solutions
from jackfield_champ.split import held_out, held_out_of_all


@frozen(kw_only=True)
class Champ:
    """Competition problems (CHAMP, MIT) whose answer is an integer, split by families of problems that are alike.

    They are hard: meant for large models, and for evaluation of a model trained on ``champ_pairs``, whose split is the same.
    The label ``category`` is the field of mathematics.
    """

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        return [_task(f"champ/{split}-{problem.id}", problem) for problem in _side(split)]


@frozen(kw_only=True)
class ChampPairs:
    """A right and a wrong answer to one problem, for DPO and reward models; each is a recorded attempt, the right one first, and
    ``extra["scores"]`` is 1 and 0.

    The prompt is the bare problem, also where the model had been given a hint. The package has no grades: an answer counts as right or
    wrong where the one-sentence summary that the model gave of it states one integer. With ``same_author`` both are of one model, so
    that its style does not tell which is right.
    """

    same_author: bool = option(True, help="both answers of a pair are by one model")
    unaided: bool = option(False, help="only answers given without hints, concepts or related problems")
    uses: int = option(1, help="an answer stands in so many pairs at most", check=at_least(1))
    longest: int = option(0, help="characters of an answer at most; longer ones are in no pair; 0: no limit", check=at_least(0))

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """By problem, in a fixed mixed order within each. Ids number the pairs of a problem, so they depend on the keys."""
        return [
            _task(f"champ_pairs/{split}-{problem.id}-{number:03d}", problem, pair)
            for problem in _side(split)
            for number, pair in enumerate(self._pairs(problem))
        ]

    def _pairs(self, problem: Problem) -> Iterator[tuple[Answer, Answer]]:
        usable = [answer for answer in problem.answers if self._is_usable(answer)]
        authors = sorted({answer.author for answer in usable}) if self.same_author else [None]
        for author in authors:
            own = [answer for answer in usable if author in (None, answer.author)]
            right, wrong = (_mixed(problem, [answer for answer in own if answer.correct is side]) for side in (True, False))
            if right and wrong:
                count = min(self.uses * min(len(right), len(wrong)), max(len(right), len(wrong)))
                yield from ((right[n % len(right)], wrong[n % len(wrong)]) for n in range(count))

    def _is_usable(self, answer: Answer) -> bool:
        alone = answer.setting in ("0-Shot", "5-Shot", "No C w/o H")
        return (alone or not self.unaided) and not 0 < self.longest < len(answer.text)


@frozen(kw_only=True)
class ChampSteps:
    """Solutions of two models to every competition problem, each a recorded attempt in steps, for process reward models: people have
    marked the first wrong step. ``extra["step_labels"]`` is 1 for the steps before it, 0 for it and for what builds on it.

    A step is a paragraph (``[rollout] use = "steps"`` with ``step_end = "\\n\\n"``). The prompt is the bare problem, also where the
    model had been given a hint. No problem that ``champ`` tests is trained on, nor one like it.
    """

    longest: int = option(0, help="characters of a solution at most; longer ones are left out; 0: no limit", check=at_least(0))
    most_steps: int = option(0, help="steps of a solution at most; longer ones are left out; 0: no limit", check=at_least(0))

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """By problem. A solution keeps its id whatever the keys are."""
        solutions = load_solutions()
        tested = held_out_of_all({solution.problem: solution.question for solution in solutions}, load_problems())
        side = [s for s in enumerate(solutions) if (s[1].problem in tested) == (split == "test")]
        return [self._task(f"champ_steps/{split}-{number:03d}", s) for number, s in side if self._fits(s)]

    def _fits(self, solution: Solution) -> bool:
        long = 0 < self.longest < sum(map(len, solution.steps))
        return bool(solution.steps) and not long and not 0 < self.most_steps < len(solution.steps)

    def _task(self, task_id: str, solution: Solution) -> Task:
        return Task(
            id=task_id,
            prompt=(Message(role="user", content=solution.question),),
            recorded=(solution.steps,),
            labels={"category": solution.category},
            extra={"step_labels": (solution.labels,), "authors": [solution.author]},
            origin=f"champ-dataset: P_{solution.problem}",
        )


def _side(split: str) -> list[Problem]:
    problems = load_problems()
    tested = held_out(problems)
    return [problem for problem in problems if (problem.id in tested) == (split == "test")]


def _mixed(problem: Problem, answers: Sequence[Answer]) -> list[Answer]:
    return sorted(answers, key=lambda answer: derive("champ order", problem.id, answer.author, answer.setting))


def _task(task_id: str, problem: Problem, pair: tuple[Answer, Answer] | None = None) -> Task:
    return Task(
        id=task_id,
        prompt=(Message(role="user", content=problem.text),),
        answers=(str(problem.gold),),
        recorded=tuple((answer.text,) for answer in pair or ()),
        labels={"category": problem.category},
        extra={} if pair is None else {"scores": [1.0, 0.0], "authors": [answer.author for answer in pair]},
        origin=f"champ-dataset: P_{problem.id}",
    )
