from __future__ import annotations

import pytest
from attrs import evolve

from jackfield.rollout import Players, play
from jackfield.testing.fakes import CharTokenizer, ScriptedEngine
from jackfield.types import Message, Rollout, Task
from jackfield_environments.single_turn import SingleTurn

TASK = Task(id="sum", prompt=(Message(role="user", content="2+2"),))


def roll(environment: SingleTurn, answer: str) -> Rollout:
    tokenizer = CharTokenizer()
    engine = ScriptedEngine(tokenizer, [answer])
    [group] = play(
        Players(environment=environment, engine=engine, tokenizer=tokenizer, tools={}, run_seed=0),
        [TASK],
        step=0,
        group_size=1,
        temperature=1.0,
    )
    assert all(session.closed for session in engine.sessions)
    return group.members[0]


def test_ends_with_eos() -> None:
    """An answer that ends by itself finishes with eos; the EOS token was sampled, so it is the policy's, and is not in the text."""
    rollout = roll(SingleTurn(max_new_tokens=9), "four")
    assert rollout.finish.reason == "eos"
    assert rollout.completion == "four"
    assert rollout.tokens[rollout.policy_mask].tolist() == [*map(ord, "four"), CharTokenizer().eos_id]
    assert rollout.segments[0].text == "[user]2+2\n[assistant]"
    assert rollout.counters == {"turns": 1}


def test_ends_with_a_stop_string() -> None:
    """T17: a stop string is an end of its own, told apart from EOS and from being cut off."""
    rollout = roll(SingleTurn(max_new_tokens=99, stop=("</answer>",)), "<answer>4</answer> and more")
    assert rollout.finish.reason == "answer"
    assert rollout.completion == "<answer>4</answer>"


def test_is_cut_off() -> None:
    """A full budget finishes with length and says so."""
    rollout = roll(SingleTurn(max_new_tokens=3), "four")
    assert rollout.finish.reason == "length"
    assert rollout.finish.truncated
    assert "max_new_tokens = 3" in rollout.finish.detail
    assert rollout.completion == "fou"


def test_a_prompt_that_leaves_no_room() -> None:
    """D5, T13: told before the run, with its length as the template makes it; one that just fits is not, and without a limit none is."""
    tokenizer, environment = CharTokenizer(), SingleTurn(max_new_tokens=9, template="Add: {question}", max_tokens=35)
    assert len("[user]Add: 2+2\n[assistant]") + 9 == 35
    assert environment.check_task(TASK, tokenizer) is None
    assert evolve(environment, max_tokens=None).check_task(TASK, tokenizer) is None
    assert evolve(environment, max_tokens=34).check_task(TASK, tokenizer) == (
        "the prompt has 26 tokens, which leaves no room in max_tokens = 34 for max_new_tokens = 9"
    )
    shown = evolve(environment, max_tokens=35 + len("[user]Add: 1+1\n[assistant]2\n"), examples={"1+1": "2"})
    assert shown.check_task(TASK, tokenizer) is None
    assert evolve(shown, examples={"1+1": "22"}).check_task(TASK, tokenizer) is not None


def test_template_and_system_message() -> None:
    """The prompt is what the recipe's template and system message make of the row."""
    rollout = roll(SingleTurn(max_new_tokens=9, template="Add: {question}", system="brief"), "4")
    assert rollout.segments[0].text == "[system]brief\n[user]Add: 2+2\n[assistant]"


def test_examples_are_earlier_turns() -> None:
    """Worked examples are the task's, none of them the policy's."""
    rollout = roll(SingleTurn(max_new_tokens=9, template="Add: {question}", system="brief", examples={"1+1": "2", "3+3": "6"}), "4")
    prompt = "[system]brief\n[user]Add: 1+1\n[assistant]2\n[user]Add: 3+3\n[assistant]6\n[user]Add: 2+2\n[assistant]"
    assert [(s.writer, s.text) for s in rollout.segments] == [("task", prompt), ("policy", "4")]
    assert rollout.policy_mask.tolist() == [False] * len(prompt) + [True] * 2


@pytest.mark.parametrize(("key", "value"), [("template", "no place"), ("max_new_tokens", 0)])
def test_bad_keys_are_refused(key: str, value: object) -> None:
    """Values that cannot work are refused when the component is made, naming the key."""
    with pytest.raises(ValueError, match=key):
        SingleTurn(**{"max_new_tokens": 9, key: value})  # type: ignore[arg-type]
