"""Evaluation is greedy, over every task once, and reported apart by label."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import define, evolve, field, frozen

from jackfield import settings
from jackfield.corridor import Corridor, Named
from jackfield.evaluate import chosen_tasks, evaluate
from jackfield.rollout import Episode, Players
from jackfield.testing.fakes import CharTokenizer, ScriptedEngine, ScriptedSession
from jackfield.types import Message, Rollout, Task, Verdict

TASKS = [Task(id=f"t{i}", prompt=(Message(role="user", content="?"),), labels={"hops": str(i % 2)}) for i in range(7)]


@define(eq=False)
class Keeping(ScriptedEngine):
    """Remembers what every session was opened with."""

    opened: list[dict[str, Any]] = field(factory=list, init=False)

    def open(self, prompt: Any, **keys: Any) -> ScriptedSession:
        self.opened.append(keys)
        return super().open(prompt, **keys)


class Once:
    async def play(self, episode: Episode) -> Rollout:
        episode.start(episode.task.prompt)
        await episode.generate(4)
        return episode.finish("answer")


@frozen
class EvenIsRight:
    def judge(self, rollout: Rollout) -> Verdict:
        return Verdict.score(float(rollout.task.labels["hops"] == "0"))


def corridor(engine: Any, tasks: int = 0, concurrency: int = 3) -> Corridor:
    """Only what evaluation looks at."""
    parts: dict[str, Any] = dict.fromkeys(("data", "model", "critic", "advantage", "optimizer"))
    return Corridor(
        run=settings.Run(title="e", steps=0, tasks_per_step=1, group_size=8),
        sampling=settings.Sampling(temperature=0.7),
        learn=settings.Learn(),
        evaluate=settings.Evaluate(tasks=tasks, concurrency=concurrency),
        checkpoint=settings.Checkpoint(),
        environment=Once(),
        engine=engine,
        rewards=(Named(name="even", part=EvenIsRight()),),
        **parts,
        **dict.fromkeys(("tools", "filters", "penalties", "losses", "trackers"), ()),
    )


def test_every_task_once_and_greedily() -> None:
    """Pitfall 60: temperature 0 whatever training samples at, one rollout a task, and no last batch is dropped (7 tasks, 3 at a time)."""
    tokenizer = CharTokenizer()
    engine = Keeping(tokenizer, ["ok"])
    players = Players(environment=Once(), engine=engine, tokenizer=tokenizer, tools={}, run_seed=0)
    report = evaluate(corridor(engine), players, TASKS, step=4, progress=lambda *_: None)
    assert sorted(keys["task"].id for keys in engine.opened) == [task.id for task in TASKS]
    assert {keys["temperature"] for keys in engine.opened} == {0.0}
    assert (report.kind, report.step) == ("evaluation", 4)
    assert report.metrics["evaluation/even"] == pytest.approx(4 / 7)
    assert report.metrics["evaluation/hops=0/even"] == 1.0
    assert report.metrics["evaluation/hops=1/even"] == 0.0
    assert (report.metrics["evaluation/hops=0/rollouts"], report.metrics["evaluation/hops=1/rollouts"]) == (4, 3)


def test_a_part_of_the_split_is_the_same_in_every_run() -> None:
    """Whatever the run's seed; more than there are, or 0, is all."""
    engine = Keeping(CharTokenizer())
    some = [task.id for task in chosen_tasks(corridor(engine, tasks=3), TASKS)]
    other = corridor(engine, tasks=3)
    assert some == [task.id for task in chosen_tasks(evolve(other, run=evolve(other.run, seed=9)), TASKS)]
    assert len(set(some)) == 3
    assert chosen_tasks(corridor(engine), TASKS) == chosen_tasks(corridor(engine, tasks=9), TASKS) == TASKS
