"""The tool ``search``."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Literal

from attrs import define, field, fields

from jackfield.component import at_least, fraction, option, part, positive
from jackfield.errors import UserError
from jackfield.stages import Corpus
from jackfield.types import Observation, Passage
from jackfield_search.client import SearchFailed, SearchServer, retrieve_url
from jackfield_search.dense import Embedder
from jackfield_search.index import LocalIndex, Retriever
from jackfield_search.terms import clean_query
from jackfield_search.window import best_window

_WATCHED = 50
"""Calls over which the failure rate is taken."""
_CONNECTIONS = 32
"""Searches that wait for a server at once."""
_LOCAL_KEYS = ("retriever", "embedder")
_SERVER_KEYS = ("timeout", "retries", "max_failure_rate")


def _address(url: str | None) -> str | None:
    try:
        if url is not None:
            retrieve_url(url)
    except ValueError as error:
        return str(error)
    return None


@define(kw_only=True, eq=False)
class Search:
    """Passages for a query, each one part of the observation: ``Doc 1 (Title: Paris) Capital of France …``, as Search-R1 shows them.

    Searches a corpus of its own or a server that speaks Search-R1's wire format, both with the same result.
    The episode counts ``search_calls`` and ``search_failures``.
    """

    name: ClassVar[str] = "search"

    corpus: Corpus | None = part("corpora", None, help="passages to search here; needed unless 'url' is set")
    retriever: Literal["bm25", "dense", "fusion"] = option(
        "bm25", help="bm25: shared words; dense: nearest vectors, exact; fusion: both, by reciprocal ranks"
    )
    embedder: Embedder | None = part(
        "embedders",
        None,
        help='text to vectors, for the retrievers dense and fusion: "wordllama" is quick, "minilm" a small transformer',
    )
    top_k: int = option(3, help="passages shown a search", check=at_least(1))
    words: int = option(
        0, help="show only so many words of a passage, where they fit the query best; 0: all of it", check=at_least(0)
    )
    url: str | None = option(None, help="search on this server instead, e.g. http://127.0.0.1:8000/retrieve", check=_address)
    timeout: float = option(10.0, help="seconds a server has to answer, each attempt", check=positive)
    retries: int = option(2, help="further attempts after a time-out, a lost connection or a server error", check=at_least(0))
    max_failure_rate: float = option(
        0.5, help=f"the run stops when more than this share of the last {_WATCHED} searches on a server failed", check=fraction
    )

    _source: Retriever | None = field(init=False, default=None, repr=False)
    _workers: ThreadPoolExecutor | None = field(init=False, default=None, repr=False)
    _failures: deque[bool] = field(init=False, factory=lambda: deque(maxlen=_WATCHED), repr=False)

    def __attrs_post_init__(self) -> None:
        if (self.corpus is None) == (self.url is None):
            found = "neither" if self.url is None else "both"
            raise ValueError(f"needs either a 'corpus' to search here or the 'url' of a server, found {found}")
        unused = [key for key in (_SERVER_KEYS if self.url is None else _LOCAL_KEYS) if self._was_set(key)]
        if unused:
            where = "without a 'url'" if self.url is None else "with a 'url'"
            raise ValueError(f"{' and '.join(map(repr, unused))} would do nothing {where}")
        if self.url is None and (self.retriever == "bm25") != (self.embedder is None):
            needs = "needs no 'embedder'" if self.embedder else "needs an 'embedder', for example \"wordllama\""
            raise ValueError(f'retriever "{self.retriever}" {needs}')

    @property
    def holds(self) -> str:
        """What it keeps in memory."""
        return "" if self.url is not None else f"an index of its corpus ({self.retriever})"

    def prepare(self) -> None:
        """Open the index, or build it if this is the first time; or ask the server something.

        Raises UserError if the corpus is empty or the server does not answer.
        """
        self.close()
        if self.corpus is not None:
            self._source = LocalIndex(self.corpus, self.retriever, self.embedder)
        else:
            assert self.url is not None
            self._source = SearchServer(self.url, self.timeout, self.retries)
            self._greet(self._source)
            self._workers = ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="search")

    async def call(self, text: str) -> Observation:
        """Search for ``text``; to find nothing is no failure. Raises UserError when too many searches on a server failed."""
        if self._source is None:
            raise RuntimeError("search: prepare() comes before the first call")
        query = clean_query(text)
        if not query:
            return Observation(failure="the query is empty; write what to search for")
        try:
            parts = await self._answer(self._source, query)
        except SearchFailed as error:
            self._note(failed=True, why=str(error))
            return Observation(failure=str(error))
        self._note(failed=False)
        return Observation(parts=parts)

    async def _answer(self, source: Retriever, query: str) -> tuple[str, ...]:
        """From a server, beside others; from a local index at once, so that when an answer comes never depends on threads."""
        if self._workers is None:
            return self._parts(source, query)
        return await asyncio.get_running_loop().run_in_executor(self._workers, self._parts, source, query)

    def close(self) -> None:
        """Free the index or the connections. ``prepare`` opens them again."""
        if self._workers is not None:
            self._workers.shutdown()
        if self._source is not None:
            self._source.close()
        self._workers = self._source = None

    def _was_set(self, key: str) -> bool:
        default = getattr(fields(type(self)), key).default
        return bool(getattr(self, key) != default)

    def _greet(self, server: SearchServer) -> None:
        try:
            server.search("test", 1)
        except SearchFailed as error:
            server.close()
            self._source = None
            raise UserError(f"search: {server.url}: {error}") from error

    def _parts(self, source: Retriever, query: str) -> tuple[str, ...]:
        hits = source.search(query, self.top_k)
        return tuple(self._shown(i, hit.passage, query, source.weight) for i, hit in enumerate(hits, start=1))

    def _shown(self, number: int, passage: Passage, query: str, weight: Callable[[str], float]) -> str:
        title, text = " ".join(passage.title.split()), passage.text
        if self.words:
            text = best_window(text, query, title=title, size=self.words, weight=weight)
        return f"Doc {number} (Title: {title}) {text}"

    def _note(self, *, failed: bool, why: str = "") -> None:
        self._failures.append(failed)
        rate = sum(self._failures) / _WATCHED
        if failed and len(self._failures) == _WATCHED and rate > self.max_failure_rate:
            raise UserError(
                f"search: {sum(self._failures)} of the last {_WATCHED} searches on {self.url} failed, more than max_failure_rate = "
                f"{self.max_failure_rate:g} allows; the last one because {why}"
            )
