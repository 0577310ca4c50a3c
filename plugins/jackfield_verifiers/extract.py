"""Reading the answer out of what the policy wrote. The prompt and observations never come here."""

from __future__ import annotations

import re
from typing import Any

from jackfield.types import Rollout

BOX = r"\boxed{"


def answer_tag_name(tag: Any) -> str | None:
    """A check for ``option``: a tag's name, or empty for the whole completion."""
    return (
        None
        if re.fullmatch(r"([A-Za-z][\w-]*)?", tag)
        else f"must be a tag's name such as 'answer', without brackets, found {tag!r}"
    )


def last_answer(rollout: Rollout, tag: str) -> str | None:
    """The content of the last ``<tag>…</tag>`` that the policy wrote in one turn; None without one. ``tag=""``: all it wrote.

    The content starts at the nearest opening tag. Tags of two turns, with an observation between, make no answer. A ``\\boxed{…}`` in
    it is unwrapped: the last one whose braces close. White space at the ends is dropped.
    """
    if not tag:
        return unboxed(rollout.completion)
    turns = [_last_tagged(segment.text, tag) for segment in rollout.segments if segment.writer == "policy"]
    return next((unboxed(answer) for answer in reversed(turns) if answer is not None), None)


def _last_tagged(text: str, tag: str) -> str | None:
    answer: str | None = None
    start: int | None = None
    for found in re.finditer(rf"<(/?){re.escape(tag)}>", text):
        if not found[1]:
            start = found.end()
        elif start is not None:
            answer, start = text[start : found.start()], None
    return answer


def unboxed(text: str) -> str:
    """``text`` stripped, or what its last ``\\boxed{…}`` holds."""
    start = text.rfind(BOX)
    if start < 0:
        return text.strip()
    start += len(BOX)
    depth = 1
    for found in re.finditer(r"[{}]", text[start:]):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return text[start : start + found.start()].strip()
    return text.strip()
