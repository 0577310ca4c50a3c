"""One event loop a run: what keeps an async client (a judge, a search server) meets the same loop in every step."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class RunAsync(Protocol):
    """Runs a coroutine to its end: ``asyncio.run``, or a runner's ``run``."""

    def __call__(self, main: Coroutine[Any, Any, T], /) -> T: ...


@contextmanager
def one_loop(parts: Iterable[object]) -> Iterator[RunAsync]:
    """A loop for a run. At its end every part that has a ``close()`` (plain or async) is closed in it, whatever happened."""
    with asyncio.Runner() as runner:
        try:
            yield runner.run
        finally:
            runner.run(_close(parts))


async def _close(parts: Iterable[object]) -> None:
    for part in parts:
        closing = part.close() if hasattr(part, "close") else None
        if inspect.isawaitable(closing):
            await closing
