"""Before any weights load: every row is read, and every row that could not be played is found, all at once."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from jackfield.corridor import Corridor
from jackfield.errors import DataError, Problem, UserError
from jackfield.findings import Findings
from jackfield.stages import Tokenizer
from jackfield.types import Task
from jackfield.words import counted

log = logging.getLogger(__name__)


def playable_tasks(corridor: Corridor) -> tuple[Sequence[Task], Sequence[Task]]:
    """The training and test tasks the run needs, those that the environment and the engine can play and the reward
    sources can judge.

    Raises DataError listing the rows that cannot be played, or leaves them out if the recipe says ``unplayable = "skip"``; raises
    UserError for a split without tasks.
    """
    tokenizer = corridor.model.tokenizer()
    train = _kept(corridor, corridor.data.tasks("train"), tokenizer) if corridor.run.steps else ()
    test = _kept(corridor, corridor.data.tasks("test"), tokenizer) if corridor.evaluate.enabled else ()
    if corridor.run.steps and not train:
        raise UserError("[data]: the training split has no tasks")
    if corridor.evaluate.enabled and not test:
        raise UserError("[data]: the test split has no tasks; give it some, or set evaluate.enabled = false")
    return train, test


def _kept(corridor: Corridor, tasks: Sequence[Task], tokenizer: Tokenizer) -> Sequence[Task]:
    problems = {task.id: problem for task in tasks for problem in _problems(corridor, task, tokenizer)}
    if not problems:
        return tasks
    if corridor.run.unplayable == "skip":
        first = next(iter(problems.values()))
        log.warning("%d of %d rows cannot be played and are left out, such as %s", len(problems), len(tasks), first)
        return [task for task in tasks if task.id not in problems]
    found = Findings()
    for problem in problems.values():
        found.add(problem, problem.message)
    advice = Problem("", "", 'mend the rows, or write unplayable = "skip" at the top of the recipe to leave them out')
    raise DataError([*found.problems(), advice])


def _problems(corridor: Corridor, task: Task, tokenizer: Tokenizer) -> Iterator[Problem]:
    parts = [corridor.environment, corridor.engine, *(reward.part for reward in corridor.rewards)]
    checks = [getattr(part, "check_task", None) for part in parts]
    for check in checks:
        message = check(task, tokenizer) if check is not None else None
        if message is not None:
            yield Problem(task.origin, f"task {task.id}", message)
            return
    if not corridor.engine.samples:
        message = _recorded_problem(task, corridor, tokenizer)
        if message is not None:
            yield Problem(task.origin, f"task {task.id}", message)


def _recorded_problem(task: Task, corridor: Corridor, tokenizer: Tokenizer) -> str | None:
    """Why recorded attempts at a task cannot be played: too few, too many turns, or a turn longer than the environment lets one be."""
    needed = corridor.run.group_size
    budget = getattr(corridor.environment, "turn_budget", None)
    limit = getattr(corridor.environment, "turn_limit", None)
    if len(task.recorded) < needed:
        return f"has {counted(len(task.recorded), 'recorded attempt')}, but group_size = {needed}"
    for attempt, turns in enumerate(task.recorded[:needed], start=1):
        if limit is not None and len(turns) > limit:
            return f"recorded attempt {attempt} has {counted(len(turns), 'turn')}, but the environment allows {limit}"
        for number, turn in enumerate(turns, start=1):
            length = len(tokenizer.encode(turn)) + (number == len(turns))  # the last one ends with an end-of-turn token
            if budget is not None and length > budget:
                return f"recorded attempt {attempt}: turn {number} has {length} tokens, but the environment allows {budget}"
    return None
