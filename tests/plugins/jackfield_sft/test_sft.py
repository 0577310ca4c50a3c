"""Recorded answers as an engine, and cross entropy."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from attrs import evolve

from jackfield.errors import DataError
from jackfield.loss_batch import LossBatch
from jackfield.rollout import Episode, Players, play
from jackfield.stages import Environment
from jackfield.types import IntArray, Message, Rollout, Task
from jackfield_sft.loss import CrossEntropy
from jackfield_sft.recorded import Recorded, RecordedSession

EOS = 0


class Letters:
    """One token a character; counts how often each text was encoded."""

    eos_id = EOS
    eos_ids = frozenset({EOS})

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, text: str) -> IntArray:
        self.encoded.append(text)
        return np.array([ord(c) for c in text], np.int64)

    def decode(self, ids: IntArray) -> str:
        return "".join(map(chr, ids))

    def chat(self, messages: Sequence[Message]) -> IntArray:
        return np.array([ord(c) for m in messages for c in m.content], np.int64)


class AskThenAnswer:
    """Answers every turn that asks; ends at a turn that does not."""

    async def play(self, episode: Episode) -> Rollout:
        episode.start(episode.task.prompt)
        while "?" in (await episode.generate(max_new_tokens=8, stop=["?"])).text:
            episode.observe("[no]")
        return episode.finish("answer")


TASK = Task(id="t/1", prompt=(Message(role="user", content="hi"),), recorded=(("a?", "b"), ("c",)), origin="train.jsonl:7")


def session(task: Task = TASK, member: int = 0) -> RecordedSession:
    """A started session."""
    engine = Recorded()
    engine.start(None, Letters())
    return engine.open(np.zeros(1, np.int64), task=task, member=member, prefix="1/0", seed=0, temperature=1.0)


def test_recorded_turns_meet_the_real_environment() -> None:
    """Attempt m is played by member m; the environment answers between turns, and only recorded text is the policy's."""
    engine, tokenizer = Recorded(), Letters()
    engine.start(None, tokenizer)
    [group] = play(
        Players(environment=AskThenAnswer(), engine=engine, tokenizer=tokenizer, tools={}, run_seed=0),
        [TASK],
        step=1,
        group_size=2,
        temperature=1.0,
    )
    two_turns, one_turn = group.members
    assert tokenizer.decode(two_turns.tokens) == "hia?[no]b\0"
    assert [s.writer for s in two_turns.segments] == ["task", "policy", "environment", "policy"]
    assert two_turns.policy_mask.tolist() == [False] * 2 + [True] * 2 + [False] * 4 + [True] * 2
    assert (two_turns.completion, one_turn.completion) == ("a?b", "c")
    assert all(s.logp is None for s in two_turns.segments)
    assert tokenizer.decode(one_turn.tokens) == "hic\0"


def test_turns_end_as_sampled_ones_do() -> None:
    """A stop string ends a turn, the last turn ends with the end-of-turn token, which its text leaves out; else it is the length."""
    playing = session(Task(id="t", prompt=(), recorded=(("a?", "b!", "c?"),)))
    turns = [asyncio.run(playing.generate(8, ["?"])) for _ in range(3)]
    assert [t.ended_by for t in turns] == ["stop", "length", "eos"]
    assert [t.text for t in turns] == ["a?", "b!", "c?"]
    assert turns[2].tokens.tolist() == [ord("c"), ord("?"), EOS]
    assert turns[0].tokens.tolist() == [ord("a"), ord("?")]
    assert turns[0].logp is None


def test_a_text_is_encoded_once() -> None:
    """Rows seen again in later epochs cost nothing."""
    engine, tokenizer = Recorded(), Letters()
    engine.start(None, tokenizer)
    for _ in range(3):
        playing = engine.open(np.zeros(1, np.int64), task=TASK, member=1, prefix="", seed=0, temperature=1.0)
        asyncio.run(playing.generate(8, []))
    assert tokenizer.encoded == ["c"]


def test_more_members_than_attempts() -> None:
    """The message names the row, what it has and what was asked."""
    with pytest.raises(DataError, match=r"train.jsonl:7: task t/1: has 2 recorded attempts, but group_size asks for member 3"):
        session(member=2)
    with pytest.raises(DataError, match="task u: has 0 recorded attempts"):
        session(Task(id="u", prompt=()))


def test_more_turns_than_recorded() -> None:
    """The message names the row, the attempt and the turn."""
    playing = session(member=1)
    asyncio.run(playing.generate(8, []))
    with pytest.raises(
        DataError, match=r"train.jsonl:7: task t/1: recorded attempt 2 has 1 turn, but the environment asks for turn 2"
    ):
        asyncio.run(playing.generate(8, []))


def played(environment: Environment, task: Task) -> Rollout:
    """Attempt 1 of the task."""
    engine, tokenizer = Recorded(), Letters()
    engine.start(None, tokenizer)
    players = Players(environment=environment, engine=engine, tokenizer=tokenizer, tools={}, run_seed=0)
    [[rollout]] = play(players, [task], step=1, group_size=1, temperature=1.0)
    return rollout


def test_a_turn_for_which_there_is_no_room_is_a_failure_not_cut() -> None:
    """What a turn may have at most is looked at before the run; what observations leave is known in play, and costs that rollout only."""

    class Tight(AskThenAnswer):
        async def play(self, episode: Episode) -> Rollout:
            episode.start(episode.task.prompt)
            await episode.generate(1, [])
            return episode.finish("answer")

    rollout = played(Tight(), TASK)
    assert (rollout.finish.reason, rollout.finish.detail) == ("failed", "recorded turn 1 has 2 tokens, and 1 are left for it")


def test_an_attempt_is_played_to_its_end() -> None:
    """An environment that stops before would teach a beginning as if it were all."""
    task = evolve(TASK, recorded=(("a?", "b", "c"),))
    told = r"train.jsonl:7: task t/1: recorded attempt 1 has 3 turns, but the environment ended it after 2 \(answer\)"
    with pytest.raises(DataError, match=told):
        played(AskThenAnswer(), task)


def test_it_holds_nothing() -> None:
    """A recipe with this engine loads no second model."""
    assert Recorded().holds == ""


def test_cross_entropy_is_minus_logp() -> None:
    """The term is −log π with gradient −1 a token, whatever the advantage."""
    logp_N = torch.tensor([-0.25, -3.0], dtype=torch.float64, requires_grad=True)
    zeros = torch.zeros(2)
    terms = CrossEntropy().terms(
        LossBatch(
            logp_N=logp_N,
            old_logp_N=logp_N.detach(),
            rollout_N=zeros.long(),
            num_rollouts=1,
            group_R=torch.zeros(1, dtype=torch.long),
            num_groups=1,
            turn_end_S=torch.tensor([1]),
            advantage_N=torch.full((2,), float("nan")),
            entropy_N=torch.zeros(2),
        )
    )
    assert terms.term.tolist() == [0.25, 3.0]
    terms.term.sum().backward()
    assert logp_N.grad is not None
    assert logp_N.grad.tolist() == [-1.0, -1.0]
