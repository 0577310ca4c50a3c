from __future__ import annotations

import pytest

from jackfield.errors import DataError
from jackfield.types import Message, Task
from jackfield_environments.prompt import holds_placeholder, prompt_messages

ROW = Task(id="t", prompt=(Message(role="user", content="What is {x}?"),), origin="train.jsonl:3")


def test_template_goes_around_the_question() -> None:
    """The question stands in the template as it is, its own braces included; doubled braces of the template are text."""
    [message] = prompt_messages(ROW, "Use \\boxed{{}}. {question}", "")
    assert message == Message(role="user", content="Use \\boxed{}. What is {x}?")


def test_plain_template_leaves_the_prompt_alone() -> None:
    """Rows that carry a full prompt, with several messages, are played unchanged."""
    prompt = (Message(role="system", content="s"), *ROW.prompt, Message(role="assistant", content="a"), *ROW.prompt)
    assert prompt_messages(Task(id="t", prompt=prompt), "{question}", "") == list(prompt)


def test_only_the_last_user_message_is_the_question() -> None:
    """Earlier messages of a conversation are kept as they are."""
    prompt = (Message(role="user", content="hi"), Message(role="assistant", content="yes?"), Message(role="user", content="2+2"))
    assert [m.content for m in prompt_messages(Task(id="t", prompt=prompt), "Q: {question}", "be brief")] == [
        "be brief", "hi", "yes?", "Q: 2+2",
    ]  # fmt: skip


def test_examples_stand_before_the_conversation() -> None:
    """After any system message, the row's own or the recipe's, and before what was said earlier; only questions go into the template."""
    row = (Message(role="user", content="hi"), Message(role="assistant", content="yes?"), Message(role="user", content="2+2"))
    said = ["Q: 1+1", "{2}", "hi", "yes?", "Q: 2+2"]
    own = Task(id="t", prompt=(Message(role="system", content="s"), *row))
    for task, system in ((own, ""), (Task(id="t", prompt=row), "s")):
        messages = prompt_messages(task, "Q: {question}", system, {"1+1": "{2}"})
        assert [m.content for m in messages] == ["s", *said]
        assert [m.role for m in messages] == ["system", "user", "assistant", "user", "assistant", "user"]


def test_information_stands_with_its_question() -> None:
    """What was found for a question goes where that question goes; braces in it are text."""
    messages = prompt_messages(ROW, "{information}|{question}", "", {"a": "b"}, {"a": "found {a}", "What is {x}?": "found"})
    assert [m.content for m in messages] == ["found {a}|a", "b", "found|What is {x}?"]


def test_two_system_messages_are_refused() -> None:
    """T19: a system message of the recipe never silently loses against the row's, nor is it merged; the row is named."""
    row = Task(id="t", prompt=(Message(role="system", content="s"), *ROW.prompt), origin="train.jsonl:3")
    with pytest.raises(
        DataError, match=r"train\.jsonl:3: prompt: the row has a system message and the recipe sets rollout\.system"
    ):
        prompt_messages(row, "{question}", "mine")


def test_a_row_without_question_is_refused() -> None:
    """A prompt without user message has no place for the template."""
    with pytest.raises(DataError, match="no message of role 'user'"):
        prompt_messages(Task(id="t", prompt=()), "{question}", "")


@pytest.mark.parametrize(
    ("template", "wrong"),
    [
        ("Answer.", "lacks {question}"),
        ("{question} {hint}", "unknown placeholder {hint}; filled in: {question};"),
        ("{question} \\boxed{}", "unknown placeholder {}"),
        ("{question!r} {question:>3}", "unknown placeholder {question!r}, {question:>3}"),
        ("{question", "expected '}'"),
        ("{question} }", "Single '}'"),
    ],
)
def test_bad_templates_say_what_is_wrong(template: str, wrong: str) -> None:
    """A template without {question} or with other braces is found before anything runs."""
    message = holds_placeholder("question")(template)
    assert message is not None
    assert wrong in message


def test_good_templates_pass() -> None:
    """Doubled braces and optional placeholders are no problem."""
    assert holds_placeholder("question")("{question} \\boxed{{}}") is None
    assert holds_placeholder("problem", "actions")("{problem} {actions}") is None
