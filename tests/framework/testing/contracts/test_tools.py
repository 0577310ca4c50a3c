"""The check of tools finds the fault it is for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jackfield.testing.contracts import check_tool
from jackfield.testing.fakes import ScriptedTool
from jackfield.types import Observation


class Answers(ScriptedTool):
    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    async def call(self, text: str) -> Any:
        return self.answer


class Shared(ScriptedTool):
    """Keeps the question of the moment on itself, where the next call finds it."""

    question = ""

    async def call(self, text: str) -> Observation:
        self.question = text
        await asyncio.sleep(0)
        return Observation(parts=(self.question,))


class Counting(ScriptedTool):
    """Answers by how often it was asked."""

    async def call(self, text: str) -> Observation:
        self.calls.append(text)
        return Observation(parts=(f"call {len(self.calls)}",), counters={"calls": float(len(self.calls))})


def test_good_tool_passes() -> None:
    """Parts or a failure to read are sound."""
    check_tool(ScriptedTool())
    check_tool(ScriptedTool(parts=(), failure="closed"))


@pytest.mark.parametrize(
    ("tool", "found"),
    [
        (ScriptedTool(name="web search"), "one word"),
        (Answers("text"), "not an Observation"),
        (Answers(Observation(parts="text")), "not a tuple"),  # type: ignore[arg-type]
        (Answers(Observation(failure=" ")), "says nothing"),
        (Answers(Observation(parts=("x",), counters={"hits": float("inf")})), "counters"),
        (Shared(), "disturb each other"),
        (Counting(), "a second call gets another answer"),
    ],
)
def test_bad_tools_are_found(tool: ScriptedTool, found: str) -> None:
    """What the policy could not read, and what another call had a part in, is named."""
    with pytest.raises(AssertionError, match=found):
        check_tool(tool)
