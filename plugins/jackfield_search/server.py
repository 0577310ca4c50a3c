"""Search over HTTP/1.1 in Search-R1's wire format: ``POST /retrieve``, ``GET /health``. Errors are ``{"error": "…"}``."""

from __future__ import annotations

import json
import logging
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from jackfield_search import wire
from jackfield_search.index import LocalIndex
from jackfield_search.terms import clean_query

_log = logging.getLogger(__name__)
_LARGEST_BODY = 8 << 20
"""Bytes."""
_LARGEST_TOPK = 10_000


class SearchHttpServer(ThreadingHTTPServer):
    """Answers searches over ``index``, each connection in a thread of its own."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], index: LocalIndex, retriever: str, top_k: int) -> None:
        super().__init__(address, _Handler)
        self.index = index
        self.retriever = retriever
        self.top_k = top_k

    def answer(self, request: wire.Request) -> bytes:
        """The response's body. An empty query finds nothing."""
        k = min(request.topk or self.top_k, _LARGEST_TOPK)
        queries = [clean_query(query) for query in request.queries]
        return wire.response([self.index.search(query, k) if query else [] for query in queries], request.return_scores)

    def health(self) -> bytes:
        """The body that says what is being served."""
        return json.dumps({"status": "ok", "passages": len(self.index.passages), "retriever": self.retriever}).encode()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """A client that goes away is no error of ours."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            _log.exception("while answering %s", client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    """Seconds an idle connection stays open, and a client may take for its body."""
    disable_nagle_algorithm = True
    server: SearchHttpServer

    def do_GET(self) -> None:
        if self.path.partition("?")[0] == "/health":
            self._send(200, self.server.health())
        else:
            self._refuse(404, "there are POST /retrieve and GET /health")

    def do_POST(self) -> None:
        body = self._body()
        if body is None:
            return
        if self.path.partition("?")[0] != "/retrieve":
            self._refuse(404, "there are POST /retrieve and GET /health")
            return
        try:
            self._send(200, self.server.answer(wire.read_request(body)))
        except wire.Malformed as error:
            self._refuse(400, str(error))
        except ConnectionError:
            raise
        except Exception as error:
            _log.exception("while searching")
            self._refuse(500, f"{type(error).__name__}: {error}")

    def _body(self) -> bytes | None:
        """The request's body; None if it was refused. A body that is not read ends the connection: what follows would be taken for a request."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self.close_connection = True
            self._refuse(411, "a request needs a Content-Length")
        elif int(length) > _LARGEST_BODY:
            self.close_connection = True
            self._refuse(413, f"a request may have {_LARGEST_BODY} bytes, found {length}")
        else:
            body = self.rfile.read(int(length))
            if len(body) == int(length):
                return body
            self.close_connection = True  # the client went away
        return None

    def _refuse(self, status: int, message: str) -> None:
        self._send(status, json.dumps({"error": message}).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """What the library refuses (an unknown method, a broken request line) is JSON too."""
        self.close_connection = True
        self._refuse(int(code), message or self.responses[code][0])

    def log_message(self, format: str, *args: Any) -> None:
        _log.debug(format, *args)


__all__ = ["SearchHttpServer"]
