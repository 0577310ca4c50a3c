from __future__ import annotations

from typing import Any

import pytest

from jackfield.types import Message
from jackfield_jsonl.rows import BadRow
from jackfield_jsonl.shapes import detect, missing_answer, read_content

USER, ASSISTANT = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}
PROMPT = (Message(role="user", content="Hi"),)
SEARCH_R1 = {
    "id": "test_0", "question": "hi", "golden_answers": ["Hello"], "data_source": "nq", "ability": "fact-reasoning",
    "prompt": [USER], "reward_model": {"style": "rule", "ground_truth": {"target": ["Hello", "Hullo"]}}, "extra_info": {"index": 0},
}  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "shape", "answers", "recorded"),
    [
        (SEARCH_R1, "search_r1", ("Hello", "Hullo"), ()),
        ({"prompt": [USER], "reward_model": {"ground_truth": "42"}}, "search_r1", ("42",), ()),
        ({"messages": [USER, ASSISTANT]}, "chat", (), (("Hello",),)),
        ({"messages": [USER], "answer": 7}, "chat", ("7",), ()),
        ({"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}, "chat", (), (("Hello",),)),
        ({"prompt": "Hi", "answer": "Hello"}, "prompt_answer", ("Hello",), ()),
        ({"question": "Hi", "answers": ["Hello", 2, 0.5]}, "prompt_answer", ("Hello", "2", "0.5"), ()),
        ({"question": "Hi", "golden_answers": ["Hello"]}, "prompt_answer", ("Hello",), ()),
        ({"prompt": [USER], "completion": "Hello"}, "completion", (), (("Hello",),)),
        ({"prompt": "Hi", "completion": [ASSISTANT], "answer": "Hello"}, "completion", ("Hello",), (("Hello",),)),
        ({"prompt": "Hi", "completions": ["A.", "B.\n", "C."], "labels": [1, 0, 0.5]}, "steps", (), (("A.\n", "B.\n", "C."),)),
        ({"prompt": "Hi", "chosen": "A", "rejected": "B"}, "preference", (), (("A",), ("B",))),
        (
            {"chosen": [USER, ASSISTANT], "rejected": [USER, {"role": "assistant", "content": "No"}]},
            "preference",
            (),
            (("Hello",), ("No",)),
        ),
    ],
)
def test_shapes(keys: dict[str, Any], shape: str, answers: tuple[str, ...], recorded: tuple[tuple[str, ...], ...]) -> None:
    """Each shape is told by its keys and gives the prompt, the gold answers and the recorded attempts, chosen before rejected."""
    assert detect(keys) == shape
    content = read_content(keys, None)
    assert content.prompt == PROMPT
    assert content.answers == answers
    assert content.recorded == recorded


@pytest.mark.parametrize(
    "keys",
    [
        {"prompt": "Hi", "chosen": "A", "rejected": "B"},
        {"prompt": [USER], "chosen": [{"role": "assistant", "content": "A"}], "rejected": "B"},
        {
            "prompt": "Hi",
            "chosen": [USER, {"role": "assistant", "content": "A"}],
            "rejected": [USER, {"role": "assistant", "content": "B"}],
        },
        {"chosen": [USER, {"role": "assistant", "content": "A"}], "rejected": [USER, {"role": "assistant", "content": "B"}]},
    ],
)
def test_pairs_share_one_prompt(keys: dict[str, Any]) -> None:
    """However a pair is written: the prompt stands once, the answers alone, chosen first with scores 1 and 0 (case T10)."""
    content = read_content(keys, None)
    assert (content.prompt, content.recorded, content.scores) == (PROMPT, (("A",), ("B",)), (1.0, 0.0))


def test_steps_have_labels() -> None:
    """True and false, or numbers between; each step but the last ends with a line end."""
    content = read_content({"prompt": [USER], "completions": ["A", "B"], "labels": [True, 0.25], "answer": 4}, None)
    assert (content.prompt, content.recorded, content.step_labels) == (PROMPT, (("A\n", "B"),), (1.0, 0.25))
    assert content.answers == ("4",)


@pytest.mark.parametrize(
    ("keys", "subject", "message"),
    [
        ({"completions": "A", "labels": [1]}, "completions", "expected a list of steps, found a string"),
        ({"completions": [], "labels": []}, "completions", "found an empty list"),
        ({"completions": ["A", ""], "labels": [1, 1]}, "completions.1", "is empty"),
        ({"completions": ["A"]}, "labels", "is missing"),
        ({"completions": ["A"], "labels": 1}, "labels", "expected a list of numbers"),
        ({"completions": ["A"], "labels": [2]}, "labels.0", "found 2"),
        ({"completions": ["A"], "labels": ["+"]}, "labels.0", "found '+'"),
        ({"completions": ["A", "B"], "labels": [1]}, "labels", "there are 1 for 2 completions"),
    ],
)
def test_steps_that_do_not_fit(keys: dict[str, Any], subject: str, message: str) -> None:
    """The key at fault, with its place in the list."""
    with pytest.raises(BadRow) as found:
        read_content({"prompt": "Hi", **keys}, None)
    assert found.value.subject == subject
    assert message in found.value.message


def test_earlier_turns_are_prompt() -> None:
    """Only the last assistant message of a conversation is the recorded attempt."""
    content = read_content(
        {"messages": [USER, ASSISTANT, {"role": "user", "content": "And?"}, {"role": "assistant", "content": "Bye"}]}, None
    )
    assert [m.content for m in content.prompt] == ["Hi", "Hello", "And?"]
    assert content.recorded == (("Bye",),)


def test_a_fixed_shape_overrides_the_keys() -> None:
    """A row with several shapes' keys is read as the recipe says."""
    assert read_content({**SEARCH_R1, "prompt": "Hi"}, "prompt_answer").answers == ("Hello",)
    with pytest.raises(BadRow, match="is missing or null; found the keys 'prompt', 'answer'"):
        read_content({"prompt": "Hi", "answer": "x"}, "completion")


@pytest.mark.parametrize(
    ("keys", "subject", "message"),
    [
        ({}, "", "no known shape: found no keys"),
        ({"promt": "Hi", "answer": "x"}, "", r"no known shape: .*; did you mean 'prompt' by 'promt'\?"),
        ({"reward_model": {"ground_truth": "x"}}, "prompt", r"is missing or null \(or 'question'\)"),
        ({"prompt": "Hi", "reward_model": "x"}, "reward_model", "expected an object, found a string"),
        (
            {"prompt": "Hi", "reward_model": {"style": "rule"}},
            "reward_model.ground_truth",
            "missing or null; found the keys 'style'",
        ),
        (
            {"prompt": "Hi", "reward_model": {"groundtruth": 1}},
            "reward_model.ground_truth",
            "did you mean 'ground_truth' by 'groundtruth'",
        ),
        ({"prompt": "Hi", "reward_model": {"ground_truth": {"targets": 1}}}, "reward_model.ground_truth.target", "by 'targets'"),
        (
            {"prompt": "Hi", "reward_model": {"ground_truth": {"target": []}}},
            "reward_model.ground_truth.target",
            "is an empty list",
        ),
        ({"prompt": "Hi", "answer": ""}, "answer", "is empty"),
        ({"prompt": "Hi", "answer": True}, "answer", "found true or false"),
        ({"prompt": "Hi", "answers": ["x", None]}, "answers.1", "found null"),
        ({"prompt": "Hi", "chosen": "A"}, "rejected", "is missing or null"),
        ({"chosen": [USER, ASSISTANT], "rejected": [ASSISTANT]}, "rejected", "differ in a last assistant message only"),
        ({"prompt": "Hi", "chosen": "A", "rejected": "A"}, "rejected", "nothing is preferred"),
        ({"prompt": "Ho", "chosen": [USER, ASSISTANT], "rejected": "B"}, "chosen", "the messages of 'prompt' followed by one"),
        ({"messages": [ASSISTANT]}, "messages", "ends with two|no user message"),
        ({"messages": [USER, ASSISTANT, ASSISTANT]}, "messages", "ends with two assistant messages"),
    ],
)
def test_bad_rows(keys: dict[str, Any], subject: str, message: str) -> None:
    """The key at fault, what was found and expected, and a near miss by its name (cases D1 and D3)."""
    with pytest.raises(BadRow, match=message) as raised:
        read_content(keys, None)
    assert raised.value.subject == subject


def test_missing_answers_name_near_misses() -> None:
    """A misspelt answer key is named."""
    assert missing_answer({"prompt": "Hi", "anwser": "x"}).endswith("did you mean 'answer' by 'anwser'?")
