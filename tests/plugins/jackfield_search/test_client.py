"""The client against real servers on this machine that do everything wrong."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from jackfield_search import client
from jackfield_search.client import SearchFailed, SearchServer, retrieve_url

GOOD = json.dumps({"result": [[{"document": {"id": "1", "contents": '"Paris"\nCapital.'}, "score": 1.0}]]}).encode()
Behaviour = Callable[[BaseHTTPRequestHandler], None]


def answer(status: int, body: bytes = b"{}") -> Behaviour:
    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return send


def sleep(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(2)
    handler.close_connection = True


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def drip(handler: BaseHTTPRequestHandler) -> None:
    """A byte now and then: no single read is late."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(60):
        try:
            handler.wfile.write(b" ")
        except OSError:
            break
        time.sleep(0.04)
    handler.close_connection = True


class Scripted(ThreadingHTTPServer):
    """Answers the nth request as told; the last behaviour stays."""

    daemon_threads = False

    def __init__(self, *behaviours: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), ScriptedHandler)
        self.behaviours = behaviours
        self.bodies: list[Any] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class ScriptedHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Scripted

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append((self.path, json.loads(body)))
        self.server.behaviours[min(len(self.server.bodies), len(self.server.behaviours)) - 1](self)

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Scripted]]:
    """Starts a scripted server. Retries come at once."""
    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.001)
    running: list[tuple[Scripted, threading.Thread]] = []

    def start(*behaviours: Behaviour) -> Scripted:
        server = Scripted(*behaviours)
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()


def ask(server: Scripted | str, *, timeout: float = 5.0, retries: int = 1) -> list[str]:
    searcher = SearchServer(server if isinstance(server, str) else server.url, timeout, retries)
    try:
        return [hit.passage.title for hit in searcher.search("東京タワー 🗼", 3)]
    finally:
        searcher.close()


def test_the_request_is_exact(script: Callable[..., Scripted]) -> None:
    """T15: the very string arrives, at /retrieve."""
    server = script(answer(200, GOOD))
    assert ask(server) == ["Paris"]
    assert server.bodies == [("/retrieve", {"queries": ["東京タワー 🗼"], "topk": 3, "return_scores": True})]


@pytest.mark.parametrize("trouble", [answer(500), answer(503), answer(429), hang_up], ids=["500", "503", "429", "hang up"])
def test_passing_trouble_is_retried(script: Callable[..., Scripted], trouble: Behaviour) -> None:
    """F6: a failure that may pass does not fail the search."""
    server = script(trouble, answer(200, GOOD))
    assert ask(server) == ["Paris"]
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("trouble", "attempts", "says"),
    [
        (answer(500), 3, "has a problem (HTTP status 500)"),
        (hang_up, 3, "cannot be reached"),
        (answer(404), 1, "refused the search (HTTP status 404)"),
        (answer(422), 1, "refused the search (HTTP status 422)"),
        (answer(302), 1, "refused the search (HTTP status 302)"),
        (answer(200, b"<html>garbage"), 1, "cannot be read"),
        (answer(200, b'{"result": []}'), 1, "answered 0 queries"),
    ],
)
def test_lasting_trouble(script: Callable[..., Scripted], trouble: Behaviour, attempts: int, says: str) -> None:
    """F6: after the last attempt the reason is given in words, without addresses; what cannot pass is tried once."""
    server = script(trouble)
    with pytest.raises(SearchFailed) as raised:
        ask(server, retries=2)
    assert says in str(raised.value)
    assert "127.0.0.1" not in str(raised.value)
    assert len(server.bodies) == attempts


@pytest.mark.parametrize("trouble", [sleep, drip])
def test_slow_servers(script: Callable[..., Scripted], trouble: Behaviour) -> None:
    """F6: the time-out holds for the whole attempt, also against a server that sends a byte now and then."""
    started = time.monotonic()
    with pytest.raises(SearchFailed, match=r"did not answer within 0\.1 s"):
        ask(script(trouble), timeout=0.1, retries=0)
    assert time.monotonic() - started < 1.5  # they take 2 s and more


def test_nobody_listens() -> None:
    """A server that is down is a failed search, and at once."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(SearchFailed, match="cannot be reached"):
            ask(url, retries=0)


def test_connections_are_kept(script: Callable[..., Scripted]) -> None:
    """A hundred searches need no hundred connections."""
    peers: set[Any] = set()

    def remember(handler: BaseHTTPRequestHandler) -> None:
        peers.add(handler.client_address)
        answer(200, GOOD)(handler)

    searcher = SearchServer(script(remember).url, 5.0, 0)
    for _ in range(5):
        searcher.search("a", 1)
    searcher.close()
    assert len(peers) == 1


def test_proxies_are_not_asked(script: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment is not for a server beside the trainer."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert ask(script(answer(200, GOOD))) == ["Paris"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://host:8000", "http://host:8000/retrieve"),
        ("http://host:8000/", "http://host:8000/retrieve"),
        ("http://host:8000/retrieve", "http://host:8000/retrieve"),
        ("https://host/a/b?c=d", "https://host/a/b?c=d"),
    ],
)
def test_addresses(url: str, expected: str) -> None:
    """With or without /retrieve; any other path is the user's."""
    assert retrieve_url(url) == expected


@pytest.mark.parametrize("url", ["", "host:8000", "ftp://host", "http://", "http://[::1"])
def test_no_addresses(url: str) -> None:
    """What cannot be an address is refused with an example."""
    with pytest.raises(ValueError, match=r"Invalid IPv6|expected an address such as"):
        retrieve_url(url)
