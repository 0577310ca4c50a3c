"""Stage one: tasks are played against an engine, many at once. The only place where segments are made, so the mask is right by construction."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from jackfield import seeds
from jackfield.errors import DataError, EngineFailure, Problem, RolloutFailure, UserError
from jackfield.eventloop import RunAsync
from jackfield.stages import Engine, Environment, Session, Tokenizer, Tool, Turn
from jackfield.types import Call, Finish, FinishReason, Group, IntArray, Message, Observation, Rollout, Segment, Task
from jackfield.words import counted


class Episode:
    """One rollout in the making, as its environment sees it.

    Example, inside ``Environment.play``::

        episode.start(episode.task.prompt)
        turn = await episode.generate(max_new_tokens=64, stop=["</search>"])
        observation = await episode.call("search", "capital of France")
        episode.observe("<information>…</information>")
        return episode.finish("answer")
    """

    def __init__(
        self,
        *,
        task: Task,
        member: int,
        group: str,
        tokenizer: Tokenizer,
        engine: Engine,
        tools: Mapping[str, Tool],
        seed: int,
        temperature: float,
    ) -> None:
        self.task = task
        self.member = member
        self.tokenizer = tokenizer
        self.tools = tools
        self.counters: dict[str, float] = {}
        self._group = group
        self._engine = engine
        self._seed = seed
        self._temperature = temperature
        self._session: Session | None = None
        self._segments: list[Segment] = []
        self._num_tokens = 0

    @property
    def num_tokens(self) -> int:
        """Tokens so far, prompt included."""
        return self._num_tokens

    def count(self, name: str, by: float = 1.0) -> None:
        """Add to a counter that is reported per rollout."""
        self.counters[name] = self.counters.get(name, 0.0) + by

    def start(self, messages: Sequence[Message]) -> None:
        """Write the prompt through the model's chat template."""
        ids = self.tokenizer.chat(messages)
        self._append(Segment(tokens=ids, writer="task", text=self.tokenizer.decode(ids)))
        self._session = self._engine.open(
            ids, task=self.task, member=self.member, prefix=self._group, seed=self._seed, temperature=self._temperature
        )

    async def generate(self, max_new_tokens: int, stop: Sequence[str] = ()) -> Turn:
        """Let the policy write until a stop string, EOS or the budget."""
        session = self._open_session()
        try:
            turn = await session.generate(max_new_tokens, stop)
        except (UserError, RolloutFailure):
            raise
        except Exception as error:  # not this rollout's failure: every other one meets it too
            raise EngineFailure(f"{type(error).__name__}: {error}") from error
        self._append(
            Segment(tokens=turn.tokens, writer="policy", text=turn.text, logp=turn.logp, policy_version=turn.policy_version)
        )
        self.count("turns")
        return turn

    def observe(self, text: str) -> None:
        """Write text of the environment: never trained on, whatever it looks like."""
        self.observe_tokens(self.tokenizer.encode(text), text)

    def observe_tokens(self, ids: IntArray, text: str) -> None:
        """As ``observe``, for text that was encoded already to count its tokens."""
        self._append(Segment(tokens=ids, writer="environment", text=text))
        self._open_session().extend(ids)

    async def call(self, tool: str, text: str) -> Observation:
        """Call a tool, on behalf of the policy's last turn; an exception in it becomes a failure the policy can read. Both are counted.
        A UserError stops the run."""
        try:
            observation = await self.tools[tool].call(text)
        except UserError:
            raise
        except Exception as error:  # a tool may be anyone's code: one failed call must not end the run
            observation = Observation(failure=f"{type(error).__name__}: {error}")
        self.count(f"{tool}_calls")
        if observation.failure is not None:
            self.count(f"{tool}_failures")
        for name, value in observation.counters.items():
            self.count(name, value)
        self._note(Call(tool=tool, text=text, failure=observation.failure))
        return observation

    def finish(self, reason: FinishReason, detail: str = "") -> Rollout:
        """Close the conversation and give the rollout."""
        self.close()
        return Rollout(
            task=self.task,
            member=self.member,
            segments=tuple(self._segments),
            finish=Finish(reason=reason, detail=detail),
            counters=dict(self.counters),
        )

    def close(self) -> None:
        """Free what the engine holds for this rollout; safe to call twice."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _open_session(self) -> Session:
        if self._session is None:
            raise RuntimeError("the episode has not been started, or is finished")
        return self._session

    def _note(self, call: Call) -> None:
        """Keep a call with the turn that made it: the policy's last, if it has said anything yet."""
        for index, segment in reversed([*enumerate(self._segments)]):
            if segment.writer == "policy":
                self._segments[index] = evolve(segment, calls=(*segment.calls, call))
                return

    def _append(self, segment: Segment) -> None:
        self._segments.append(segment)
        self._num_tokens += len(segment.tokens)


@frozen(kw_only=True, eq=False)
class Players:
    """Who plays: the same for every rollout of a run."""

    environment: Environment
    engine: Engine
    tokenizer: Tokenizer
    tools: Mapping[str, Tool]
    run_seed: int
    run: RunAsync = asyncio.run


def play(
    players: Players,
    tasks: Sequence[Task],
    *,
    step: int,
    group_size: int,
    temperature: float,
    earlier: Sequence[Group[Rollout]] = (),
    concurrency: int | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[Group[Rollout]]:
    """Groups of ``group_size`` rollouts, in the order of ``tasks``.

    Every rollout draws from a generator seeded by (run seed, step, task id, member), so the result does not depend on
    how the engine batches or which rollout ends first. A task drawn twice in a step gives two groups with different seeds;
    ``earlier`` are the groups that the step has played already.
    A rollout that fails is a rollout with ``Finish("failed", …)``; only a UserError and an EngineFailure are raised.
    """
    slots = asyncio.Semaphore(concurrency or max(len(tasks) * group_size, 1))
    try:
        return players.run(_play(players, tasks, step, group_size, temperature, earlier, slots, progress))
    except ExceptionGroup as failures:
        first = failures.subgroup((UserError, EngineFailure))
        if first is None:
            raise
        raise first.exceptions[0] from first.exceptions[0].__cause__


async def _play(
    players: Players,
    tasks: Sequence[Task],
    step: int,
    group_size: int,
    temperature: float,
    earlier: Sequence[Group[Rollout]],
    slots: asyncio.Semaphore,
    progress: Callable[[int, int], None],
) -> list[Group[Rollout]]:
    total = len(tasks) * group_size
    done = 0
    drawn = Counter(group.task.id for group in earlier)

    async def one(task: Task, member: int, group: str, repeat: int) -> Rollout:
        nonlocal done
        async with slots:
            episode = Episode(
                task=task,
                member=member,
                group=group,
                tokenizer=players.tokenizer,
                engine=players.engine,
                tools=players.tools,
                seed=seeds.derive(players.run_seed, step, task.id, repeat, member),
                temperature=temperature,
            )
            try:
                rollout = await players.environment.play(episode)
                if not isinstance(rollout, Rollout):
                    raise TypeError(f"{type(players.environment).__name__}.play() gave {rollout!r} where a Rollout is expected")
                if not players.engine.samples:
                    _require_whole(rollout)
            except (UserError, EngineFailure):  # to be mended: a wrong row, a server that is gone, an engine out of memory
                raise
            except RolloutFailure as error:
                rollout = episode.finish("failed", str(error))
            except Exception as error:  # an environment may be anyone's code; the failure is data and is counted
                rollout = episode.finish("failed", f"{type(error).__name__}: {error}")
            finally:
                episode.close()
        done += 1
        progress(done, total)
        return rollout

    pending: list[tuple[str, Task, list[Any]]] = []
    async with asyncio.TaskGroup() as running:
        for index, task in enumerate(tasks):
            repeat = drawn[task.id]
            drawn[task.id] += 1
            group = f"{step}/{len(earlier) + index}"
            members = [running.create_task(one(task, member, group, repeat)) for member in range(group_size)]
            pending.append((group, task, members))
    return [Group(id=group, task=task, members=tuple(m.result() for m in members)) for group, task, members in pending]


def _require_whole(rollout: Rollout) -> None:
    """Raises DataError where the environment ended a recorded attempt before its last turn: what was recorded is never cut."""
    recorded = len(rollout.task.recorded[rollout.member])
    played = sum(segment.writer == "policy" for segment in rollout.segments)
    if rollout.finish.reason != "failed" and played < recorded:
        told = f"recorded attempt {rollout.member + 1} has {counted(recorded, 'turn')}, but the environment ended it after {played}"
        raise DataError(Problem(rollout.task.origin, f"task {rollout.task.id}", f"{told} ({rollout.finish.reason})"))
