"""Search on a server that speaks Search-R1's wire format."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from jackfield_search import wire
from jackfield_search.index import Hit

if TYPE_CHECKING:
    import httpx

_FIRST_PAUSE = 0.25
"""Seconds before the first retry; doubled before each further one."""
_TOO_BUSY = 429


class SearchFailed(Exception):
    """A search did not succeed; the message says why in words that a policy may read."""


class SearchServer:
    """A retrieval server. Used from several threads at once; connections are kept open between searches."""

    def __init__(self, url: str, timeout: float, retries: int) -> None:
        """timeout: seconds for one attempt, from connecting to the last byte."""
        import httpx

        self.url = retrieve_url(url)
        self._timeout = timeout
        self._retries = retries
        # Proxies in the environment are not for a retrieval server, which stands beside the trainer.
        self._client = httpx.Client(timeout=timeout, trust_env=False, headers={"Content-Type": "application/json"})

    def search(self, query: str, k: int) -> list[Hit]:
        """Raises SearchFailed after the last attempt. What cannot get better by trying again is tried once."""
        body = wire.Request(queries=(query,), topk=k, return_scores=True).body()
        for attempt in range(self._retries + 1):
            if attempt:
                time.sleep(_FIRST_PAUSE * 2 ** (attempt - 1))
            answer = self._attempt(body)
            if isinstance(answer, bytes):
                return self._read(answer)[:k]
        raise SearchFailed(answer)

    def weight(self, term: str) -> float:  # noqa: ARG002
        """1: a server tells nothing about how rare a term is."""
        return 1.0

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _attempt(self, body: bytes) -> bytes | str:
        """The answer, or in words what went wrong this time."""
        import httpx

        try:
            status, answer = self._post(body)
        except (httpx.TimeoutException, TimeoutError):
            return f"the search engine did not answer within {self._timeout:g} s"
        except httpx.TransportError:
            return "the search engine cannot be reached"
        if status == httpx.codes.OK:
            return answer
        if status >= httpx.codes.INTERNAL_SERVER_ERROR or status == _TOO_BUSY:
            return f"the search engine has a problem (HTTP status {status})"
        raise SearchFailed(f"the search engine refused the search (HTTP status {status})")

    def _post(self, body: bytes) -> tuple[int, bytes]:
        """httpx limits each read; a server that sends a byte now and then is stopped here."""
        end = time.monotonic() + self._timeout
        with self._client.stream("POST", self.url, content=body) as response:
            return response.status_code, b"".join(_until(end, response))

    def _read(self, answer: bytes) -> list[Hit]:
        try:
            results = wire.read_response(answer)
        except wire.Malformed as error:
            raise SearchFailed("the search engine sent an answer that cannot be read") from error
        if len(results) != 1:
            raise SearchFailed(f"the search engine answered {len(results)} queries where one was asked")
        return results[0]


def retrieve_url(url: str) -> str:
    """``url`` with the path ``/retrieve`` if it has none. Raises ValueError if it is not an http(s) address."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"expected an address such as http://127.0.0.1:8000/retrieve, found '{url}'")
    return urlunsplit(parts._replace(path="/retrieve")) if parts.path in ("", "/") else url


def _until(end: float, response: httpx.Response) -> list[bytes]:
    chunks = []
    for chunk in response.iter_bytes():
        chunks.append(chunk)
        if time.monotonic() > end:
            raise TimeoutError
    return chunks


__all__ = ["SearchFailed", "SearchServer", "retrieve_url"]
