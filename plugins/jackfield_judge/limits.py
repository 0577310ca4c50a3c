"""How fast and how much an endpoint is asked."""

from __future__ import annotations

import asyncio
import time

from attrs import define, field

from jackfield.errors import Problem, UserError


@define(eq=False)
class Pace:
    """Lets requests go one after another, evenly spaced, and none while the server has asked for a pause."""

    per_minute: float
    """0: no limit."""
    _free: float = field(init=False, default=0.0)
    """When the next one may go, on the monotonic clock."""

    async def turn(self) -> None:
        """Wait until one more request may go."""
        while (wait := self._free - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        if self.per_minute:
            self._free = time.monotonic() + 60 / self.per_minute

    def pause(self, seconds: float) -> None:
        """Nothing goes for so long."""
        self._free = max(self._free, time.monotonic() + seconds)


@define(eq=False)
class Budget:
    """What a run may ask for. Requests are counted before they go, retries too; tokens as the server reports them, so that answers
    under way may exceed their limit."""

    max_requests: int | None
    max_tokens: int | None
    requests: int = 0
    tokens: int = 0

    def take(self) -> None:
        """One more request. Raises UserError if the budget is spent."""
        if self.max_requests is not None and self.requests >= self.max_requests:
            raise _spent(f"{self.requests} requests to the judge were made", f"max_requests = {self.max_requests}")
        if self.max_tokens is not None and self.tokens >= self.max_tokens:
            raise _spent(f"the judge's answers took {self.tokens} tokens", f"max_tokens = {self.max_tokens}")
        self.requests += 1

    def spend(self, tokens: int | None) -> None:
        """What an answer took. Raises UserError if there is a limit and the server does not say."""
        if tokens is not None:
            self.tokens += tokens
        elif self.max_tokens is not None:
            message = "the server does not report tokens (usage.total_tokens), so they cannot be limited; use max_requests"
            raise UserError(Problem("", "judge_endpoint.max_tokens", message))


def _spent(what: str, limit: str) -> UserError:
    key = limit.partition(" ")[0]
    message = f"{what} and {limit}: the budget of one process is spent; --resume goes on from the last checkpoint with a new one"
    return UserError(Problem("", f"judge_endpoint.{key}", message))
