"""Evaluation on the test split: every task, every source's mean, apart by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jackfield import metrics, rollout
from jackfield.corridor import Corridor
from jackfield.report import StepReport
from jackfield.reward import score
from jackfield.step import Held, Progress, assign_credit, scorable, with_credit
from jackfield.task_order import draw
from jackfield.types import Group, Scored, Task


def evaluate(
    corridor: Corridor,
    players: rollout.Players,
    tasks: Sequence[Task],
    *,
    step: int,
    progress: Progress,
    temperature: float = 0.0,
    samples: int = 1,
) -> StepReport:
    """What the policy makes of the tasks, once and greedily unless a temperature is given, or so many samples of each at that
    temperature; metrics are named ``evaluation/…`` and ``evaluation/hops=2/…``."""
    phase = metrics.Phases()
    scored = _judged(corridor, players, tasks, phase, step=step, group_size=samples, temperature=temperature, progress=progress)
    return _report(step, {**metrics.of_rollouts(scored), **metrics.by_label(scored)}, phase, scored)


def evaluate_recorded(corridor: Corridor, held: Held, tasks: Sequence[Task], *, step: int, progress: Progress) -> StepReport:
    """What the losses and their metrics are on recorded attempts at the tasks, with nothing learnt: for recipes whose engine plays
    recordings, which say nothing of what the policy would write."""
    phase = metrics.Phases()
    group_size = corridor.run.group_size
    scored = _judged(corridor, held.players, tasks, phase, step=step, group_size=group_size, temperature=1.0, progress=progress)
    credited = assign_credit(corridor, held, scorable(scored, corridor.advantage.smallest_group), phase, progress)
    with phase("learn"):
        found = held.learner.without_update(credited)
    return _report(step, {**metrics.of_rollouts(scored), **found}, phase, with_credit(scored, credited))


def chosen_tasks(corridor: Corridor, tasks: Sequence[Task]) -> Sequence[Task]:
    """The first ``evaluate.tasks`` in an order drawn from a fixed seed (the same for every run), or all."""
    wanted = corridor.evaluate.tasks
    return draw(tasks, seed=0, drawn=0, count=wanted) if 0 < wanted < len(tasks) else tasks


def _judged(
    corridor: Corridor,
    players: rollout.Players,
    tasks: Sequence[Task],
    phase: metrics.Phases,
    *,
    step: int,
    group_size: int,
    temperature: float,
    progress: Progress,
) -> list[Group[Scored]]:
    with phase("generate"):
        played = rollout.play(
            players,
            tasks,
            step=step,
            group_size=group_size,
            temperature=temperature,
            concurrency=corridor.evaluate.concurrency,
            progress=lambda done, total: progress("evaluate", done, total),
        )
    with phase("score"):
        return score(played, corridor.rewards, run=players.run)


def _report(step: int, found: Mapping[str, float], phase: metrics.Phases, groups: Sequence[Group[Scored]]) -> StepReport:
    named = {f"evaluation/{name}": value for name, value in found.items()}
    return StepReport(kind="evaluation", step=step, metrics=named, seconds=phase.close(), groups=groups)
