from __future__ import annotations

from typing import Any

import pytest
from attrs import define, field

from jackfield import seeds
from jackfield.errors import DataError, UserError
from jackfield.rollout import Episode, Players, play
from jackfield.stages import Environment
from jackfield.testing.fakes import CharTokenizer, ScriptedEngine, ScriptedSession, ScriptedTool
from jackfield.types import Call, Group, Message, Observation, Rollout, Task

TASKS = [Task(id=name, prompt=(Message(role="user", content=name),)) for name in ("a", "b", "a")]


class Once:
    """Calls its tool, if it has one, and lets the policy answer."""

    async def play(self, episode: Episode) -> Rollout:
        episode.start(episode.task.prompt)
        for name in episode.tools:
            observation = await episode.call(name, "x")
            episode.observe(f"[{observation.failure or ''.join(observation.parts)}]")
        await episode.generate(9, ["."])
        return episode.finish("answer")


@define(eq=False)
class SeedKeeping(ScriptedEngine):
    """Remembers what every session was opened with."""

    opened: list[dict[str, Any]] = field(factory=list, init=False)

    def open(self, prompt: Any, **keys: Any) -> ScriptedSession:
        self.opened.append(keys)
        return super().open(prompt, **keys)


def run(
    environment: Environment | None = None, tool: ScriptedTool | None = None, **options: Any
) -> tuple[list[Group[Rollout]], SeedKeeping]:
    tokenizer = CharTokenizer()
    engine = SeedKeeping(tokenizer, ["4."])
    keys: dict[str, Any] = {"step": 5, "group_size": 2, "temperature": 0.5} | options
    players = Players(
        environment=environment or Once(),
        engine=engine,
        tokenizer=tokenizer,
        tools={"search": tool} if tool else {},
        run_seed=keys.pop("run_seed", 3),
    )
    groups = play(players, TASKS, **keys)
    assert all(session.closed for session in engine.sessions)
    return groups, engine


def test_groups_come_in_the_order_of_tasks() -> None:
    """One group a task, its members in order, with ids unique in the run also for a task drawn twice."""
    groups, _ = run()
    assert [g.task.id for g in groups] == ["a", "b", "a"]
    assert [[r.member for r in g] for g in groups] == [[0, 1]] * 3
    assert [g.id for g in groups] == ["5/0", "5/1", "5/2"]


@pytest.mark.parametrize("concurrency", [None, 1, 2])
def test_seeds_name_what_is_drawn(concurrency: int | None) -> None:
    """A rollout's seed depends on run seed, step, task, repeat and member only, so never on what runs beside it."""
    _, engine = run(concurrency=concurrency)
    seen = {(k["task"].id, k["prefix"], k["member"]): k["seed"] for k in engine.opened}
    assert seen["a", "5/0", 1] == seeds.derive(3, 5, "a", 0, 1)
    assert seen["a", "5/2", 1] == seeds.derive(3, 5, "a", 1, 1)
    assert len(set(seen.values())) == 6
    assert {k["temperature"] for k in engine.opened} == {0.5}


def test_writers_and_masks() -> None:
    """Prompt, observation and answer have their writers; only what was sampled is the policy's and has log-probs."""
    groups, _ = run(tool=ScriptedTool(parts=("doc",)))
    rollout = groups[0].members[0]
    assert [(s.writer, s.text) for s in rollout.segments] == [
        ("task", "[user]a\n[assistant]"),
        ("environment", "[doc]"),
        ("policy", "4."),
    ]
    assert rollout.policy_mask.tolist() == [False] * 24 + [True] * 2
    assert rollout.counters == {"search_calls": 1, "turns": 1}


def test_progress_counts_rollouts() -> None:
    """Every finished rollout is told, up to the last."""
    told: list[tuple[int, int]] = []
    run(progress=lambda done, total: told.append((done, total)))
    assert told == [(n, 6) for n in range(1, 7)]


def test_a_failed_rollout_is_data() -> None:
    """R4: an environment that crashes on one rollout loses that one only, and says why."""

    class Fragile(Once):
        async def play(self, episode: Episode) -> Rollout:
            if (episode.task.id, episode.member) == ("b", 1):
                raise ZeroDivisionError("by nothing")
            return await super().play(episode)

    groups, _ = run(Fragile())
    assert [r.finish.reason for g in groups for r in g] == ["answer", "answer", "answer", "failed", "answer", "answer"]
    assert groups[1].members[1].finish.detail == "ZeroDivisionError: by nothing"


def test_an_environment_that_gives_nothing_is_counted() -> None:
    """R6: None in the place of a rollout is a failed rollout that says so; nothing waits for it."""

    class Silent(Once):
        async def play(self, episode: Episode) -> Any:
            rollout = await super().play(episode)
            return None if episode.member else rollout

    groups, _ = run(Silent())
    assert [r.finish.reason for r in groups[0]] == ["answer", "failed"]
    assert groups[0].members[1].finish.detail == "TypeError: Silent.play() gave None where a Rollout is expected"


class Raising(ScriptedTool):
    """A tool that raises."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def call(self, text: str) -> Observation:
        raise self.error


def test_a_failed_call_is_read_by_the_policy() -> None:
    """A tool's exception ends nothing: it is an observation and a counter."""
    groups, _ = run(tool=Raising(OSError("gone")))
    rollout = groups[0].members[0]
    assert rollout.segments[1].text == "[OSError: gone]"
    assert rollout.counters["search_failures"] == 1
    assert rollout.finish.reason == "answer"


def test_what_the_user_must_mend_stops_the_run() -> None:
    """A UserError of a tool comes out as it was raised, not wrapped and not as a failed call."""
    error = DataError("train.jsonl:3: no question")
    with pytest.raises(UserError, match="no question") as raised:
        run(tool=Raising(error))
    assert raised.value is error


class Asking:
    """The policy says three things; its tool is called before the first, twice after the second, and once after the third."""

    async def play(self, episode: Episode) -> Rollout:
        episode.start(episode.task.prompt)
        await episode.call("search", "too early")
        await episode.generate(9, ["."])
        await episode.generate(9, ["."])
        await episode.call("search", "one")
        episode.observe("seen")
        await episode.call("search", "two")
        await episode.generate(9, ["."])
        await episode.call("search", "three")
        return episode.finish("answer")


def test_calls_stand_with_the_turn_that_made_them() -> None:
    """Also a call that comes after an observation; one before the policy has said anything is nobody's, but counted."""
    groups, engine = run(Asking(), ScriptedTool(failure="gone"))
    rollout = groups[0].members[0]
    assert [(s.writer, [c.text for c in s.calls]) for s in rollout.segments] == [
        ("task", []), ("policy", []), ("policy", ["one", "two"]), ("environment", []), ("policy", ["three"]),
    ]  # fmt: skip
    assert rollout.segments[2].calls[0] == Call(tool="search", text="one", failure="gone")
    assert rollout.counters["search_calls"] == 4
    assert rollout.tokens.tolist() == engine.sessions[0].context
