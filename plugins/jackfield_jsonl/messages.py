"""Prompts and conversations as they stand in rows, as ``Message``s."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jackfield.types import Message
from jackfield_jsonl.rows import BadRow, kind

_ROLES = {"human": "user", "gpt": "assistant", "bot": "assistant", "model": "assistant"}
"""ShareGPT's names."""
ROLES = ("system", "user", "assistant", "tool")


def read_prompt(key: str, value: Any) -> tuple[Message, ...]:
    """A string (one user message) or a list of messages that the assistant is to answer."""
    messages = (Message(role="user", content=_text(key, value)),) if isinstance(value, str) else read_messages(key, value)
    if messages[-1].role == "assistant":
        raise BadRow(key, "ends with an assistant message; a prompt must end where the assistant's answer starts")
    if not any(m.role == "user" for m in messages):
        raise BadRow(key, "has no user message")
    return messages


def read_messages(key: str, value: Any) -> tuple[Message, ...]:
    """``[{"role": …, "content": …}, …]`` or ShareGPT's ``[{"from": …, "value": …}, …]``; system messages only at the start."""
    if not isinstance(value, list) or not value:
        raise BadRow(key, f"expected a list of messages, found {'an empty list' if value == [] else kind(value)}")
    messages = tuple(_message(f"{key}.{number}", item) for number, item in enumerate(value))
    for number, message in enumerate(messages[1:], 1):
        if message.role == "system":
            raise BadRow(f"{key}.{number}", "a system message must be the first")
    return messages


def read_answer_text(key: str, value: Any) -> str:
    """What the assistant wrote: a string, or a list of messages that is one assistant message."""
    if isinstance(value, str):
        return _text(key, value)
    messages = read_messages(key, value)
    if len(messages) != 1 or messages[0].role != "assistant":
        raise BadRow(
            key,
            f"expected a string or one assistant message, found {len(messages)} messages, the last of role '{messages[-1].role}'",
        )
    return messages[0].content


def _message(key: str, item: Any) -> Message:
    if not isinstance(item, Mapping):
        raise BadRow(key, f"expected a message, found {kind(item)}")
    role_key, content_key = ("from", "value") if "from" in item else ("role", "content")
    role = item.get(role_key)
    role = _ROLES.get(role, role) if isinstance(role, str) else role
    if role not in ROLES:
        raise BadRow(f"{key}.{role_key}", f"expected one of {', '.join(ROLES)}, found {role!r}")
    return Message(role=role, content=_text(f"{key}.{content_key}", item.get(content_key)))


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise BadRow(key, f"expected text, found {kind(value)}")
    if not value.strip():
        raise BadRow(key, "is empty")
    return value
