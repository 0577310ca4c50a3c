"""One loop a run, and nothing left open."""

from __future__ import annotations

import asyncio

import pytest

from jackfield.eventloop import one_loop


class Plain:
    closed = False

    def close(self) -> None:
        self.closed = True


class Client:
    """Belongs to the loop it was first used in, as an HTTP client's connections do."""

    loop: asyncio.AbstractEventLoop | None = None
    closed = False

    async def call(self) -> int:
        self.loop = self.loop or asyncio.get_running_loop()
        assert self.loop is asyncio.get_running_loop()
        return 7

    async def close(self) -> None:
        await self.call()
        self.closed = True


def test_all_calls_and_the_end_share_one_loop() -> None:
    """A client opened in one step is used in the next and closed in the same loop; parts without close() are left alone."""
    client, plain = Client(), Plain()
    with one_loop([client, plain, object()]) as run:
        assert [run(client.call()), run(client.call())] == [7, 7]
    assert client.closed
    assert plain.closed


def test_parts_are_closed_whatever_happened() -> None:
    """An error in the run is told as it is, after everything was closed."""
    client = Client()
    with pytest.raises(RuntimeError, match="boom"), one_loop([client]):
        raise RuntimeError("boom")
    assert client.closed
