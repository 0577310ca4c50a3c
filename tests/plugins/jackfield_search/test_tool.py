from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jackfield.errors import UserError
from jackfield.types import Observation
from jackfield_search import tool as tool_module
from jackfield_search.client import SearchFailed
from jackfield_search.index import LocalIndex
from jackfield_search.tool import Search


@pytest.fixture
def open_tool() -> Iterator[Callable[..., Search]]:
    """Makes, prepares and in the end closes a tool."""
    opened: list[Search] = []

    def make(**keys: Any) -> Search:
        search = Search(**keys)
        opened.append(search)
        search.prepare()
        return search

    yield make
    for search in opened:
        search.close()


def call(search: Search, *texts: str) -> list[Observation]:
    async def all_at_once() -> list[Observation]:
        return await asyncio.gather(*(search.call(text) for text in texts))

    return asyncio.run(all_at_once())


def test_documents_look_as_in_search_r1(open_tool: Callable[..., Search], corpus: Any) -> None:
    """One part a document, numbered from 1; line ends belong to the environment."""
    (found,) = call(open_tool(corpus=corpus, top_k=2), "capital of France")
    assert found == Observation(
        parts=(
            "Doc 1 (Title: France) Country in Europe. Its capital is Paris and its currency the euro.",
            "Doc 2 (Title: Paris) Capital of France. Paris lies on the river Seine.",
        ),
    )


def test_windows(open_tool: Callable[..., Search], corpus: Any) -> None:
    """words = 3 shows where the passage speaks of what was asked, not its head."""
    (found,) = call(open_tool(corpus=corpus, top_k=1, words=3), "currency of France")
    assert found.parts == ("Doc 1 (Title: France) its currency the",)


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_query(open_tool: Callable[..., Search], corpus: Any, text: str) -> None:
    """It is told what to do, and no search is counted."""
    assert call(open_tool(corpus=corpus), text) == [Observation(failure="the query is empty; write what to search for")]


def test_nothing_found(open_tool: Callable[..., Search], corpus: Any) -> None:
    """An answer like another, no failure of the tool."""
    assert call(open_tool(corpus=corpus), "zebra") == [Observation()]


def test_unicode(open_tool: Callable[..., Search], corpus: Any) -> None:
    """T15: the exact string is searched and the passage shown as it is."""
    (found,) = call(open_tool(corpus=corpus), "東京タワー 🗼")
    assert found.parts == ("Doc 1 (Title: Tokyo Tower) 東京タワー 🗼 is a tower in Tokyo, Japan.",)


def test_one_tool_serves_many_steps(open_tool: Callable[..., Search], corpus: Any) -> None:
    """Every step has an event loop of its own; answers stay with their questions."""
    search = open_tool(corpus=corpus, top_k=1)
    for _ in range(3):
        found = call(search, *["oxygen", "euro", "seine"] * 10)
        assert [observation.parts[0].split(")")[0] for observation in found] == [
            "Doc 1 (Title: Oxygen", "Doc 1 (Title: France", "Doc 1 (Title: Paris",
        ] * 10  # fmt: skip


@pytest.mark.parametrize("words", [0, 3])
def test_a_server_gives_what_the_index_gives(
    open_tool: Callable[..., Search], corpus: Any, serving: Callable[[LocalIndex], str], words: int
) -> None:
    """Over real HTTP, the same observations as from the corpus itself."""
    queries = ["currency of France", "東京タワー 🗼", "river", "zebra", ""]
    url = serving(LocalIndex(corpus, "bm25"))
    assert call(open_tool(url=url, words=words), *queries) == call(open_tool(corpus=corpus, words=words), *queries)


def test_a_server_that_goes_down(open_tool: Callable[..., Search], corpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """F6: failures are readable and counted; past the limit the run stops with a clean message."""
    monkeypatch.setattr(tool_module, "SearchServer", Flaky)
    Flaky.down = False
    search = open_tool(url="http://host:1", max_failure_rate=0.5)
    assert all(observation.failure is None for observation in call(search, *["a"] * 25))
    Flaky.down = True
    for observation in call(search, *["a"] * 25):  # 25 of 50: not more than half
        assert observation == Observation(failure="it is down")
    with pytest.raises(UserError, match=r"26 of the last 50 searches on http://host:1 failed.*max_failure_rate = 0\.5.*it is down"):
        call(search, "a")


def test_few_failures_do_not_stop(open_tool: Callable[..., Search], monkeypatch: pytest.MonkeyPatch) -> None:
    """F6: a rate over fewer than fifty calls says nothing yet; empty queries are not the server's fault."""
    monkeypatch.setattr(tool_module, "SearchServer", Flaky)
    Flaky.down = False
    search = open_tool(url="http://host:1", max_failure_rate=0.0)
    Flaky.down = True
    assert len(call(search, *["a"] * 49, *[""] * 60)) == 109


class Flaky:
    """A server connection that fails when told."""

    down = False

    def __init__(self, url: str, timeout: float, retries: int) -> None:
        self.url = url

    def search(self, query: str, k: int) -> list[Any]:
        from jackfield.types import Passage
        from jackfield_search.index import Hit

        if self.down:
            raise SearchFailed("it is down")
        return [Hit(passage=Passage(id="1", title="T", text="x"), score=1.0)]

    def weight(self, term: str) -> float:
        return 1.0

    def close(self) -> None: ...


def test_a_server_that_is_down_from_the_start() -> None:
    """A clean message before the first step, naming the address."""
    with pytest.raises(UserError, match=r"http://127\.0\.0\.1:9/retrieve: the search engine cannot be reached"):
        Search(url="http://127.0.0.1:9", retries=0).prepare()


def test_an_empty_corpus(make_corpus: Callable[..., Any]) -> None:
    """A clean message before the first step."""
    with pytest.raises(UserError, match="no passages"):
        Search(corpus=make_corpus([])).prepare()


def test_prepare_comes_first(corpus: Any) -> None:
    """Constructing does nothing; a call says what is missing."""
    with pytest.raises(RuntimeError, match="prepare"):
        call(Search(corpus=corpus), "a")


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "either a 'corpus' .* or the 'url' .* found neither"),
        ({"corpus": "C", "url": "http://host"}, "found both"),
        ({"url": "host:8000"}, "url: expected an address such as http://127.0.0.1:8000/retrieve, found 'host:8000'"),
        ({"url": "http://host", "retriever": "dense"}, "'retriever' would do nothing with a 'url'"),
        ({"url": "http://host", "embedder": "E"}, "'embedder' would do nothing with a 'url'"),
        ({"corpus": "C", "timeout": 3.0, "retries": 0}, "'timeout' and 'retries' would do nothing without a 'url'"),
        ({"corpus": "C", "retriever": "dense"}, "needs an 'embedder', for example \"wordllama\""),
        ({"corpus": "C", "embedder": "E"}, "retriever \"bm25\" needs no 'embedder'"),
        ({"corpus": "C", "top_k": 0}, "top_k: must be at least 1"),
        ({"corpus": "C", "words": -1}, "words: must be at least 0"),
        ({"url": "http://host", "timeout": 0.0}, "timeout: must be above 0"),
        ({"url": "http://host", "max_failure_rate": 1.5}, "max_failure_rate: must lie between 0 and 1"),
    ],
)
def test_keys_that_do_not_fit(keys: dict[str, Any], says: str) -> None:
    """Exactly one source; a key that would do nothing is an error (C4)."""
    with pytest.raises(ValueError, match=says):
        Search(**keys)
