"""The server over real HTTP."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from jackfield_search.client import SearchServer
from jackfield_search.index import LocalIndex


@pytest.fixture
def index(corpus: Any) -> LocalIndex:
    return LocalIndex(corpus, "bm25")


@pytest.fixture
def connection(index: LocalIndex, serving: Callable[[LocalIndex], str]) -> Iterator[http.client.HTTPConnection]:
    address = urlsplit(serving(index))
    connected = http.client.HTTPConnection(address.hostname or "", address.port, timeout=5)
    yield connected
    connected.close()


def request(connection: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection.request(method, path, json.dumps(body) if body is not None and not isinstance(body, bytes) else body)
    response = connection.getresponse()
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    return response.status, json.loads(response.read())


def test_batches_with_scores(connection: http.client.HTTPConnection, index: LocalIndex) -> None:
    """A list of hits for each query, in order; an empty query finds nothing."""
    queries = ["capital of France", "  ", "東京タワー 🗼"]
    status, found = request(connection, "POST", "/retrieve", {"queries": queries, "topk": 2, "return_scores": True})
    assert status == 200
    assert [[hit["document"]["id"] for hit in hits] for hits in found["result"]] == [["p1", "p0"], [], ["p2"]]
    assert (
        found["result"][0][0]["document"]["contents"]
        == '"France"\nCountry in Europe. Its capital is Paris and its currency the euro.'
    )
    assert [hit["score"] for hit in found["result"][0]] == [hit.score for hit in index.search("capital of France", 2)]


def test_without_scores(connection: http.client.HTTPConnection) -> None:
    """F3: the documents alone, not an HTTP 500."""
    status, found = request(connection, "POST", "/retrieve", {"queries": ["oxygen"]})
    assert (status, found) == (
        200,
        {"result": [[{"id": "p3", "contents": '"Oxygen"\nChemical element. Element 8 of the periodic table.'}]]},
    )


def test_top_k(index: LocalIndex, make_corpus: Callable[..., Any], serving: Callable[[LocalIndex], str]) -> None:
    """The server's own where a request names none; more than there are gives all (F1)."""
    many = LocalIndex(make_corpus([("T", "x1")] * 7), "bm25")
    address = urlsplit(serving(many))
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=5)
    for topk, expected in ((None, 3), (5, 5), (10**30, 7)):
        assert len(request(connection, "POST", "/retrieve", {"queries": ["x1"], "topk": topk})[1]["result"][0]) == expected
    connection.close()


def test_health(connection: http.client.HTTPConnection) -> None:
    """What is being served."""
    assert request(connection, "GET", "/health") == (200, {"status": "ok", "passages": 5, "retriever": "bm25"})


@pytest.mark.parametrize("body", [b"garbage", [], {}, {"queries": "a"}, {"queries": ["a"], "topk": -1}])
def test_malformed_bodies(connection: http.client.HTTPConnection, body: Any) -> None:
    """400 and a reason; the connection goes on."""
    status, found = request(connection, "POST", "/retrieve", body)
    assert status == 400
    assert found["error"]
    assert request(connection, "GET", "/health")[0] == 200


@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", "/retrieve"), ("POST", "/health"), ("POST", "/search")])
def test_elsewhere(connection: http.client.HTTPConnection, method: str, path: str) -> None:
    """404, with what there is; the connection goes on."""
    assert request(connection, method, path, {} if method == "POST" else None) == (
        404,
        {"error": "there are POST /retrieve and GET /health"},
    )
    assert request(connection, "GET", "/health")[0] == 200


def raw(index_url: str, sent: bytes) -> bytes:
    address = urlsplit(index_url)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=5) as connected:
        connected.sendall(sent)
        received = b""
        while chunk := connected.recv(65536):
            received += chunk
        return received


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"POST /retrieve HTTP/1.1\r\nHost: x\r\n\r\n", b"411"),
        (b"POST /retrieve HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", b"411"),
        (b"POST /retrieve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"411"),
        (b"POST /retrieve HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (b"DELETE /retrieve HTTP/1.1\r\nHost: x\r\n\r\n", b"501"),
        (b"nonsense here and there\r\n\r\n", b"400"),
    ],
)
def test_broken_requests(index: LocalIndex, serving: Callable[[LocalIndex], str], sent: bytes, status: bytes) -> None:
    """A JSON error, and the connection is closed: what follows could not be told from a request. The server lives on."""
    url = serving(index)
    received = raw(url, sent)
    if received.startswith(b"HTTP/"):
        assert received.split()[1] == status
        assert b"Connection: close" in received
    assert b'{"error": ' in received
    assert b'"status": "ok"' in raw(url, b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n")


def test_clients_that_go_away(
    index: LocalIndex, serving: Callable[[LocalIndex], str], capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Half a request, or no reading of the answer: the server says nothing and lives on."""
    url = serving(index)
    address = urlsplit(url)
    for sent in (b"POST /retr", b"POST /retrieve HTTP/1.1\r\nContent-Length: 50\r\n\r\n{", b"GET /health HTTP/1.1\r\n\r\n" * 50):
        connected = socket.create_connection((address.hostname or "", address.port or 0), timeout=5)
        connected.sendall(sent)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        connected.close()
    assert b'"status": "ok"' in raw(url, b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


@pytest.mark.parametrize("retriever", ["bm25", "dense", "fusion"])
def test_client_and_server_agree_with_the_index(
    corpus: Any, embedder: Any, serving: Callable[[LocalIndex], str], retriever: Any
) -> None:
    """The same passages and scores over the wire as from the index itself, with many clients at once."""
    index = LocalIndex(corpus, retriever, None if retriever == "bm25" else embedder)
    searcher = SearchServer(serving(index), 5.0, 0)
    queries = ["capital of France", "東京タワー 🗼", "river", "element 8", "zurich"] * 8
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda query: searcher.search(query, 4), queries))
    searcher.close()
    assert found == [index.search(query, 4) for query in queries]
    assert any(found)


def test_errors_of_ours(index: LocalIndex, connection: http.client.HTTPConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash while searching is a JSON 500, and the server lives on."""

    def crash(query: str, k: int) -> Any:
        raise RuntimeError("disk gone")

    monkeypatch.setattr(index, "search", crash)
    assert request(connection, "POST", "/retrieve", {"queries": ["a"]}) == (500, {"error": "RuntimeError: disk gone"})
    assert request(connection, "GET", "/health")[0] == 200
