"""Greedy evaluation on the test split: every task once, every source's mean, apart by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jackfield import metrics, rollout
from jackfield.corridor import Corridor
from jackfield.report import StepReport
from jackfield.reward import score
from jackfield.stages import Tokenizer, Tool
from jackfield.step import Progress
from jackfield.types import Task


def evaluate(
    corridor: Corridor,
    tasks: Sequence[Task],
    *,
    step: int,
    tokenizer: Tokenizer,
    tools: Mapping[str, Tool],
    progress: Progress,
    temperature: float = 0.0,
) -> StepReport:
    """A report of kind "evaluation"; its metrics are named ``evaluation/…`` and ``evaluation/hops=2/…``."""
    phase = metrics.Phases()
    with phase("generate"):
        played = rollout.play(
            tasks,
            step=step,
            group_size=1,
            environment=corridor.environment,
            engine=corridor.engine,
            tokenizer=tokenizer,
            tools=tools,
            run_seed=corridor.run.seed,
            temperature=temperature,
            concurrency=corridor.evaluate.concurrency,
            progress=lambda done, total: progress("evaluate", done, total),
        )
    with phase("score"):
        scored = score(played, corridor.rewards)
    found = {**metrics.of_rollouts(scored), **metrics.by_label(scored)}
    return StepReport(
        kind="evaluation",
        step=step,
        metrics={f"evaluation/{name}": value for name, value in found.items()},
        seconds=phase.close(),
        groups=scored,
    )


def chosen_tasks(corridor: Corridor, tasks: Sequence[Task]) -> Sequence[Task]:
    """The first ``evaluate.tasks`` in an order drawn from a fixed seed (the same for every run), or all."""
    from jackfield.task_order import draw

    wanted = corridor.evaluate.tasks
    return draw(tasks, seed=0, drawn=0, count=wanted) if 0 < wanted < len(tasks) else tasks
