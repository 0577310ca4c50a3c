"""The final answer of a completion: what stands in the answer tag, or in the last box. The prompt and observations never come here."""

from __future__ import annotations

import re
from typing import Any

from jackfield.types import Rollout

BOX = "\\boxed{"


def tag_name(tag: Any) -> str | None:
    """A check for ``option``: a tag's name, or empty for none."""
    named = re.fullmatch(r"([A-Za-z][\w-]*)?", tag)
    return None if named else f"must be a tag's name such as 'answer', without brackets, found {tag!r}"


def final_answer(rollout: Rollout, tag: str) -> str | None:
    """The content of the last complete ``<tag>…</tag>`` of one turn; without a tag, the last ``\\boxed{…}`` that closes; None without either.

    A box within the tag is unwrapped.
    """
    turns = [segment.text for segment in reversed(rollout.segments) if segment.writer == "policy"]
    if tag:
        tagged = next((content for text in turns if (content := _last_tagged(text, tag)) is not None), None)
        if tagged is not None:
            return unboxed(tagged)
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
    """The content of the last pair of tags in ``text``, from the nearest opening tag."""
    content: str | None = None
    start: int | None = None
    for found in re.finditer(rf"<(/?){re.escape(tag)}>", text):
        if not found[1]:
            start = found.end()
        elif start is not None:
            content, start = text[start : found.start()], None
    return content
