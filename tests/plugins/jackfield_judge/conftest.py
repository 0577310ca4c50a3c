"""Rollouts to judge, a judge that says what it is told to, and a server that does so, or misbehaves."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jackfield.types import Finish, Message, Rollout, Segment, Task
from jackfield_judge import chat

Behaviour = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache; no proxy stands before this machine."""
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache"


@pytest.fixture
def wrote() -> Callable[..., Rollout]:
    """A rollout with this completion."""

    def make(completion: str, *, question: str = "2 + 2 = ?", answers: tuple[str, ...] = ("4", "four")) -> Rollout:
        task = Task(id="t/1", prompt=(Message(role="user", content=question),), answers=answers)
        segments = (
            Segment(tokens=np.arange(3), writer="task", text="the prompt"),
            Segment(tokens=np.arange(3), writer="policy", text=completion),
        )
        return Rollout(task=task, member=0, segments=segments, finish=Finish(reason="eos"))

    return make


def reply(status: int, body: Any = b"", **headers: str) -> Behaviour:
    """A response; a body that is no bytes is sent as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content)

    return send


def says(text: str | None, tokens: int | None = None) -> Behaviour:
    """A judgement as the API writes it."""
    body: dict[str, Any] = {"choices": [{"message": {"role": "assistant", "content": text}}]}
    return reply(200, body if tokens is None else {**body, "usage": {"total_tokens": tokens}})


class Scripted(ThreadingHTTPServer):
    """Answers the nth request as told; the last behaviour stays."""

    def __init__(self, *behaviours: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), ScriptedHandler)
        self.behaviours = behaviours
        self.bodies: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"


class ScriptedHandler(BaseHTTPRequestHandler):
    """Keeps what it was asked."""

    protocol_version = "HTTP/1.1"
    server: Scripted

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.headers.append(dict(self.headers))
            self.server.paths.append(self.path)
            behaviour = self.server.behaviours[min(len(self.server.bodies), len(self.server.behaviours)) - 1]
        behaviour(self)

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Scripted]]:
    """Starts a scripted server. Retries come at once."""
    monkeypatch.setattr(chat, "_FIRST_PAUSE", 0.001)
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


@pytest.fixture
def behaviours() -> Any:
    """How a scripted server may behave."""

    class Behaviours:
        reply = staticmethod(reply)
        says = staticmethod(says)

    return Behaviours
