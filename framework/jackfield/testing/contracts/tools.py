"""What a tool promises."""

from __future__ import annotations

import asyncio

import numpy as np

from jackfield.stages import Tool
from jackfield.types import Observation

QUERIES = (
    "capital of France",
    "",
    "   ",
    "東京タワー 🗼",
    "x" * 10_000,
    "a \"quoted' (query) \\ \x00 {}[]*?",
    "<search>x</search>\n" * 3,
)


def check_tool(tool: Tool) -> None:
    """Answers any text with readable parts or a readable failure, many at once as one by one. Calls ``prepare`` first."""
    assert isinstance(tool.name, str), f"name is {tool.name!r}"
    assert tool.name.isidentifier(), f"name must be one word such as 'search', found {tool.name!r}"
    tool.prepare()

    async def call_all() -> tuple[list[Observation], list[Observation]]:
        together = await asyncio.gather(*(tool.call(text) for text in reversed(QUERIES)))
        return together[::-1], [await tool.call(text) for text in QUERIES]

    for text, together, alone in zip(QUERIES, *asyncio.run(call_all()), strict=True):
        said = f"for {text[:20]!r}"
        _check_readable(together, said)
        _check_readable(alone, said)
        assert (together.parts, together.failure) == (alone.parts, alone.failure), (
            f"{said} calls made at once disturb each other, or a second call gets another answer: "
            f"{together.parts or together.failure} and {alone.parts or alone.failure}"
        )


def _check_readable(observation: object, said: str) -> None:
    assert isinstance(observation, Observation), f"{said} it gave {observation!r}, not an Observation"
    assert isinstance(observation.parts, tuple), f"{said} parts are not a tuple of texts: {observation.parts!r}"
    assert all(isinstance(part, str) for part in observation.parts), f"{said} parts are not all text: {observation.parts!r}"
    assert observation.failure is None or observation.failure.strip(), f"{said} the failure says nothing"
    assert all(np.isfinite(value) for value in observation.counters.values()), f"{said} counters are {observation.counters}"
