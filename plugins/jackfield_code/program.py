"""The program in a completion. The prompt and observations never come here."""

from __future__ import annotations

import re

from jackfield.types import Rollout

FENCE = re.compile(r"[ \t]*+```[ \t]*+(\w*+)[^`]*+")  # possessive: a long line that is no fence is given up at once
PYTHON = ("", "python", "py", "python3")
ANSWER = re.compile(r"</?answer>")


def written_program(rollout: Rollout) -> str | None:
    """The program of the last turn that holds one; None without one.

    In a turn the last complete ``<answer>…</answer>`` is read if there is one, else all of the turn: its last closed fenced block that
    is marked as Python or not marked at all. An answer without such a block is a program as it stands.
    """
    turns = [segment.text for segment in reversed(rollout.segments) if segment.writer == "policy"]
    programs = (_program(text.replace("\r\n", "\n")) for text in turns)
    return next((program for program in programs if program is not None), None)


def _program(text: str) -> str | None:
    answer = _last_answer(text)
    block = _last_block(text if answer is None else answer)
    return answer if block is None else block


def _last_block(text: str) -> str | None:
    """Line by line: a fence with a language opens a block, also within one that was never closed; a bare one opens or closes."""
    block: str | None = None
    language, lines = "", list[str]()
    inside = False
    for line in text.splitlines(keepends=True):
        fence = FENCE.fullmatch(line.rstrip())
        if fence is None:
            lines.append(line)
        elif inside and line.strip() == "```":
            inside = False
            block = "".join(lines) if language in PYTHON else block
        else:
            inside, language, lines = True, fence[1].lower(), []
    return block


def _last_answer(text: str) -> str | None:
    answer: str | None = None
    start: int | None = None
    for found in ANSWER.finditer(text):
        if found[0] == "<answer>":
            start = found.end()
        elif start is not None:
            answer, start = text[start : found.start()].strip("\n"), None
    return answer
