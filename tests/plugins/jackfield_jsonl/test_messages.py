from __future__ import annotations

from typing import Any

import pytest

from jackfield.types import Message
from jackfield_jsonl.messages import read_answer_text, read_messages, read_prompt
from jackfield_jsonl.rows import BadRow

USER, ASSISTANT = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}


def test_openai_and_sharegpt_messages() -> None:
    """Both give the same messages; further keys of a message don't matter."""
    expected = (
        Message(role="system", content="Be brief."),
        Message(role="user", content="Hi"),
        Message(role="assistant", content="Hello"),
    )
    assert read_messages("messages", [{"role": "system", "content": "Be brief.", "name": "x"}, USER, ASSISTANT]) == expected
    sharegpt = [{"from": "system", "value": "Be brief."}, {"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]
    assert read_messages("conversations", sharegpt) == expected


def test_prompts_are_strings_or_messages() -> None:
    """A string is one user message."""
    assert read_prompt("prompt", "Hi") == (Message(role="user", content="Hi"),)
    assert read_prompt("prompt", [USER]) == (Message(role="user", content="Hi"),)


def test_answer_texts() -> None:
    """A string or one assistant message."""
    assert read_answer_text("completion", "Hello") == "Hello"
    assert read_answer_text("completion", [ASSISTANT]) == "Hello"
    with pytest.raises(BadRow, match="found 2 messages"):
        read_answer_text("completion", [USER, ASSISTANT])


@pytest.mark.parametrize(
    ("value", "subject", "message"),
    [
        ([], "prompt", "an empty list"),
        ({}, "prompt", "found an object"),
        (7, "prompt", "found a number"),
        (" \n", "prompt", "is empty"),
        (["Hi"], "prompt.0", "expected a message, found a string"),
        ([{"role": "user"}], "prompt.0.content", "expected text, found null"),
        ([{"role": "user", "content": [{"type": "text"}]}], "prompt.0.content", "expected text, found a list"),
        (
            [{"role": "narrator", "content": "x"}],
            "prompt.0.role",
            "expected one of system, user, assistant, tool, found 'narrator'",
        ),
        ([USER, {"role": "system", "content": "x"}], "prompt.1", "must be the first"),
        ([USER, ASSISTANT], "prompt", "ends with an assistant message"),
        ([{"role": "system", "content": "x"}], "prompt", "has no user message"),
    ],
)
def test_what_is_no_prompt(value: Any, subject: str, message: str) -> None:
    """The key down to the message is named, with what was found."""
    with pytest.raises(BadRow, match=message) as raised:
        read_prompt("prompt", value)
    assert raised.value.subject == subject
