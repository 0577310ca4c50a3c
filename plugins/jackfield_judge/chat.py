"""One request to an OpenAI-compatible ``/chat/completions``, again and again until it succeeds or cannot."""

from __future__ import annotations

import asyncio
import email.utils
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import frozen

from jackfield import seeds
from jackfield_judge.judging import NoAnswer
from jackfield_judge.limits import Budget, Pace

if TYPE_CHECKING:
    import httpx

_FIRST_PAUSE = 0.5
"""Seconds before the first retry; doubled before each further one."""
_LONGEST_PAUSE = 120.0
"""Seconds; a server that asks for more is given up."""
_PASSING = frozenset({408, 409, 425, 429})
"""Statuses of trouble that may pass, beside all from 500."""
_SHOWN = 200
"""Characters of a server's error that are shown."""


@frozen
class Answered:
    """A judge's words, and the tokens they took if the server says so."""

    text: str
    tokens: int | None


@frozen
class Trouble:
    """Why an attempt failed where another may succeed; ``pause``: seconds the server asks for."""

    reason: str
    pause: float | None = None


class ChatClient:
    """Asks one endpoint, from one event loop."""

    def __init__(
        self, url: str, key: str | None, *, timeout: float, retries: int, concurrency: int, pace: Pace, budget: Budget
    ) -> None:
        """key: sent as a bearer token and never shown. timeout: seconds for one attempt, from connecting to the last byte."""
        import httpx

        self._url = completions_url(url)
        self._key = key
        self._timeout = timeout
        self._retries = retries
        self._slots = asyncio.Semaphore(concurrency)
        self._pace = pace
        self._budget = budget
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        limits = httpx.Limits(max_connections=concurrency)
        self._client = httpx.AsyncClient(timeout=timeout, headers=headers, limits=limits)

    async def ask(self, request: Mapping[str, Any]) -> str:
        """The answer's text. Raises NoAnswer after the last attempt, UserError when the budget is spent."""
        reason = ""
        async with self._slots:
            for attempt in range(self._retries + 1):
                await self._pace.turn()
                self._budget.take()
                found = await self._attempt(request)
                if isinstance(found, Answered):
                    self._budget.spend(found.tokens)
                    return found.text
                reason = found.reason
                await self._wait(found, attempt, request)
        raise NoAnswer(f"{reason} ({_times(self._retries + 1)})")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _wait(self, trouble: Trouble, attempt: int, request: Mapping[str, Any]) -> None:
        if attempt == self._retries:
            return
        if trouble.pause is not None:
            if trouble.pause > _LONGEST_PAUSE:
                raise NoAnswer(f"{trouble.reason}, and asks to wait {trouble.pause:.0f} s")
            self._pace.pause(trouble.pause)
            return
        spread = 1 + seeds.derive(str(request), attempt) % 1000 / 2000  # those that failed together do not come back together
        await asyncio.sleep(min(_FIRST_PAUSE * 2**attempt * spread, _LONGEST_PAUSE))

    async def _attempt(self, request: Mapping[str, Any]) -> Answered | Trouble:
        import httpx

        try:
            async with asyncio.timeout(self._timeout):  # httpx limits each read; a server may send a byte now and then
                response = await self._client.post(self._url, json=request)
        except (httpx.TimeoutException, TimeoutError):
            return Trouble(f"the judge did not answer within {self._timeout:g} s")
        except httpx.RequestError as error:
            return Trouble(f"the judge cannot be reached ({type(error).__name__})")
        status = response.status_code
        if status == httpx.codes.OK:
            return self._read(response)
        told = f"the judge's server answered with HTTP status {status}{self._shown(response.text)}"
        if status in _PASSING or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return Trouble(told, _retry_after(response.headers.get("Retry-After")))
        raise NoAnswer(told)

    def _read(self, response: httpx.Response) -> Answered:
        try:
            body = response.json()
            text = body["choices"][0]["message"]["content"]
            usage = body.get("usage") or {}
            tokens = usage.get("total_tokens")
            if not isinstance(text, str | None) or not isinstance(tokens, int | None):
                raise TypeError
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            raise NoAnswer(f"the judge's server sent an answer that cannot be read{self._shown(response.text)}") from None
        return Answered(text or "", tokens)

    def _shown(self, text: str) -> str:
        """The start of what a server said, without the key, which some servers repeat."""
        said = " ".join((text.replace(self._key, "(key)") if self._key else text).split())
        return f": {said[:_SHOWN]}" if said else ""


def completions_url(url: str) -> str:
    """Where an API at ``url`` answers chats. Raises ValueError for what is no http(s) address, or holds a password or query."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("expected the address of an API, such as http://127.0.0.1:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must hold no user, password or query: name the environment variable of a key as api_key_env")
    return f"{url.rstrip('/').removesuffix('/chat/completions')}/chat/completions"


def _times(attempts: int) -> str:
    return "one attempt" if attempts == 1 else f"{attempts} attempts"


def _retry_after(header: str | None) -> float | None:
    """Seconds to wait, which a server says as such or as a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
