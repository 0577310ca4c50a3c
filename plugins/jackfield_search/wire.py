"""The wire format of Search-R1's retrieval server, both sides: ``POST /retrieve``.

Request: ``{"queries": ["…"], "topk": 3, "return_scores": true}``. Response with scores:
``{"result": [[{"document": {"id": "…", "contents": "\\"Title\\"\\ntext"}, "score": 0.9}, …], …]}``; without: the documents alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from jackfield.types import Passage
from jackfield_search.index import Hit


class Malformed(ValueError):
    """A body that is not in the wire format; the message says what is wrong with it."""


@frozen(kw_only=True)
class Request:
    """Queries and how to answer them; ``topk`` None is the server's default.

    Example: ``Request(queries=("capital of France",), topk=3, return_scores=True)``
    """

    queries: tuple[str, ...]
    topk: int | None = None
    return_scores: bool = False

    def body(self) -> bytes:
        """The JSON to send."""
        return json.dumps({"queries": self.queries, "topk": self.topk, "return_scores": self.return_scores}).encode()


def read_request(body: bytes) -> Request:
    """Raises Malformed."""
    found = _read_object(body)
    queries, topk, scores = found.get("queries"), found.get("topk"), found.get("return_scores", False)
    if not isinstance(queries, list) or not all(isinstance(query, str) for query in queries):
        raise Malformed(f"'queries' must be a list of strings, found {_shown(queries)}")
    if topk is not None and (not isinstance(topk, int) or isinstance(topk, bool) or topk < 1):
        raise Malformed(f"'topk' must be a whole number of 1 or more, found {_shown(topk)}")
    if not isinstance(scores, bool):
        raise Malformed(f"'return_scores' must be true or false, found {_shown(scores)}")
    return Request(queries=tuple(queries), topk=topk, return_scores=scores)


def response(results: Sequence[Sequence[Hit]], return_scores: bool) -> bytes:
    """The JSON that answers a request, a list of hits for every query."""
    return json.dumps(
        {"result": [[_document(hit, return_scores) for hit in hits] for hits in results]}, ensure_ascii=False
    ).encode()


def read_response(body: bytes) -> list[list[Hit]]:
    """The hits of every query, whether the server sent scores or not (then they are 0). Raises Malformed."""
    result = _read_object(body).get("result")
    if not isinstance(result, list) or not all(isinstance(hits, list) for hits in result):
        raise Malformed(f"'result' must be a list of lists, found {_shown(result)}")
    return [[_read_hit(entry) for entry in hits] for hits in result]


def _document(hit: Hit, return_scores: bool) -> dict[str, Any]:
    title = " ".join(hit.passage.title.split())
    document = {"id": hit.passage.id, "contents": f'"{title}"\n{hit.passage.text}'}
    return {"document": document, "score": hit.score} if return_scores else document


def _read_hit(entry: Any) -> Hit:
    document, score = (entry.get("document", entry), entry.get("score", 0.0)) if isinstance(entry, dict) else (None, 0.0)
    if not isinstance(document, dict) or not isinstance(document.get("contents"), str) or not isinstance(score, int | float):
        raise Malformed(f"a document must have 'contents', and its score must be a number, found {_shown(entry)}")
    title, newline, text = document["contents"].partition("\n")
    if not newline:
        title, text = "", title
    elif len(title) >= 2 and title[0] == title[-1] == '"':
        title = title[1:-1]
    return Hit(passage=Passage(id=str(document.get("id", "")), title=title, text=text), score=float(score))


def _read_object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the body is not JSON ({error})") from error
    if not isinstance(found, dict):
        raise Malformed(f"the body must be a JSON object, found {_shown(found)}")
    return found


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "…"


__all__ = ["Malformed", "Request", "read_request", "read_response", "response"]
