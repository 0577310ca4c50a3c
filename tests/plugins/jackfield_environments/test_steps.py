"""A line is a turn."""

from __future__ import annotations

import pytest

from jackfield.rollout import Players, play
from jackfield.stages import Engine
from jackfield.testing.contracts import check_environment
from jackfield.testing.fakes import CharTokenizer, ScriptedEngine
from jackfield.types import Message, Rollout, Task
from jackfield_environments.steps import Steps
from jackfield_sft.recorded import Recorded

TASK = Task(id="sum", prompt=(Message(role="user", content="1, 2, 3"),), recorded=(("1 + 2 = 3\n", "so 6", "done"),))


def roll(environment: Steps, engine: Engine, tokenizer: CharTokenizer) -> Rollout:
    [group] = play(
        Players(environment=environment, engine=engine, tokenizer=tokenizer, tools={}, run_seed=0),
        [TASK],
        step=0,
        group_size=1,
        temperature=1.0,
    )
    return group.members[0]


def sampled(environment: Steps, *turns: str) -> Rollout:
    tokenizer = CharTokenizer(pieces=("\n\n",))
    return roll(environment, ScriptedEngine(tokenizer, turns), tokenizer)


def policy_turns(rollout: Rollout) -> list[str]:
    assert {s.writer for s in rollout.segments[1:]} == {"policy"}
    return [s.text for s in rollout.segments[1:]]


def test_every_line_is_a_turn() -> None:
    """Its end is part of it, also where one token holds more than that; nothing stands between turns; EOS ends the last."""
    rollout = sampled(Steps(max_new_tokens_per_step=20), "1 + 2 = 3\n", "3 + 3 = 6\n\n", "So 6.")
    assert policy_turns(rollout) == ["1 + 2 = 3\n", "3 + 3 = 6\n\n", "So 6."]
    assert rollout.finish.reason == "eos"
    assert rollout.turn_ends.tolist() == [len("[user]1, 2, 3\n[assistant]") + n for n in (9, 19, 25)]


def test_other_ends_of_a_step() -> None:
    """``step_end`` is the recipe's."""
    rollout = sampled(Steps(max_new_tokens_per_step=20, step_end=";", template="Add {question}", system="Be brief."), "1;", "2")
    assert policy_turns(rollout) == ["1;", "2"]
    assert rollout.segments[0].text.startswith("[system]Be brief.\n[user]Add 1, 2, 3")
    with pytest.raises(ValueError, match="step_end: must not be empty"):
        Steps(max_new_tokens_per_step=1, step_end="")


def test_budgets() -> None:
    """A step that is cut off ends the rollout, and so does one step too many; both as truncated."""
    cut = sampled(Steps(max_new_tokens_per_step=4), "1 +\n", "2 + 3\n", "5")
    assert policy_turns(cut) == ["1 +\n", "2 + "]
    assert (cut.finish.reason, cut.finish.detail) == ("length", "step 2 was cut off after 4 tokens")
    many = sampled(Steps(max_new_tokens_per_step=9, max_steps=2), "1\n", "2\n", "3\n")
    assert policy_turns(many) == ["1\n", "2\n"]
    assert (many.finish.reason, many.finish.detail) == ("turns", "no end within 2 steps")


def test_recorded_steps_are_whole() -> None:
    """Every recorded turn is a step, with or without the text that ends one."""
    tokenizer, engine = CharTokenizer(), Recorded()
    engine.start(None, tokenizer)  # type: ignore[arg-type]
    rollout = roll(Steps(max_new_tokens_per_step=10), engine, tokenizer)
    assert policy_turns(rollout) == list(TASK.recorded[0])
    assert rollout.finish.reason == "eos"
    assert rollout.tokens[-1] == tokenizer.eos_id


def test_contract() -> None:
    """Any policy is played to an end."""
    check_environment(Steps(max_new_tokens_per_step=64), {})
