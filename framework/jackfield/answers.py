"""Reading an answer out of what the policy wrote, for verifiers of every plugin. The prompt and observations never come here."""

from __future__ import annotations

import re
from typing import Any

from jackfield.types import Rollout

BOX = r"\boxed{"


def tag_name(tag: Any) -> str | None:
    """A check for ``option``: a tag's name, or empty for none."""
    named = re.fullmatch(r"([A-Za-z][\w-]*)?", tag)
    return None if named else f"must be a tag's name such as 'answer', without brackets, found {tag!r}"


def last_answer(rollout: Rollout, tag: str) -> str | None:
    """What is between the last tags, a box in it unwrapped; None without. ``tag=""``: all that the policy wrote."""
    text = last_tagged(rollout, tag) if tag else rollout.completion
    return None if text is None else unboxed(text)


def last_tagged(rollout: Rollout, tag: str) -> str | None:
    """The content of the last ``<tag>…</tag>`` that the policy wrote in one turn; None without one.

    It starts at the nearest opening tag. Tags of two turns, with an observation between, make no answer.
    """
    turns = (segment.text for segment in reversed(rollout.segments) if segment.writer == "policy")
    return next((content for text in turns if (content := _last_tagged(text, tag)) is not None), None)


def last_boxed(rollout: Rollout) -> str | None:
    """What the last ``\\boxed{…}`` that the policy wrote and closed in one turn holds; None without one."""
    turns = (segment.text for segment in reversed(rollout.segments) if segment.writer == "policy")
    return next((box for text in turns if (box := last_box(text)) is not None), None)


def unboxed(text: str) -> str:
    """``text`` stripped, or what its last ``\\boxed{…}`` holds."""
    box = last_box(text)
    return text.strip() if box is None else box


def last_box(text: str) -> str | None:
    """What the last ``\\boxed{…}`` of ``text`` holds, None if there is none or its braces never close."""
    start = text.rfind(BOX)
    if start < 0:
        return None
    start += len(BOX)
    depth = 1
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[start : start + brace.start()].strip()
    return None


def _last_tagged(text: str, tag: str) -> str | None:
    content: str | None = None
    start: int | None = None
    for found in re.finditer(rf"<(/?){re.escape(tag)}>", text):
        if not found[1]:
            start = found.end()
        elif start is not None:
            content, start = text[start : found.start()], None
    return content
