from __future__ import annotations

import json

import pytest

from jackfield.types import Passage
from jackfield_search import wire
from jackfield_search.index import Hit
from jackfield_search.wire import Malformed, Request

PARIS = Hit(passage=Passage(id="7", title='The "City of Light"', text="Paris.\nSecond line 🗼."), score=0.5)


def test_request_is_search_r1s() -> None:
    """The three keys, as its clients send them."""
    assert json.loads(Request(queries=("東京タワー 🗼",), topk=3, return_scores=True).body()) == {
        "queries": ["東京タワー 🗼"],
        "topk": 3,
        "return_scores": True,
    }


def test_request_round_trip() -> None:
    """What one side writes the other reads."""
    request = Request(queries=("a", "東京タワー 🗼"), topk=2, return_scores=True)
    assert wire.read_request(request.body()) == request


def test_only_queries_are_required() -> None:
    """topk and return_scores have defaults; null is none; other keys are not ours."""
    assert wire.read_request(b'{"queries": ["a"], "topk": null, "more": 1}') == Request(queries=("a",))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "JSON object"),
        (b"{}", "'queries' must be a list of strings, found null"),
        (b'{"queries": "a"}', "'queries' must be a list of strings"),
        (b'{"queries": [1]}', "'queries' must be a list of strings"),
        (b'{"queries": [], "topk": 0}', "'topk' must be a whole number of 1 or more, found 0"),
        (b'{"queries": [], "topk": true}', "'topk'"),
        (b'{"queries": [], "topk": 2.0}', "'topk'"),
        (b'{"queries": [], "return_scores": 1}', "'return_scores' must be true or false"),
    ],
)
def test_malformed_requests(body: bytes, says: str) -> None:
    """The message says what is wrong."""
    with pytest.raises(Malformed, match="^.*" + says.replace("'", ".")):
        wire.read_request(body)


def test_response_with_scores() -> None:
    """The exact shape of Search-R1's server."""
    assert json.loads(wire.response([[PARIS], []], return_scores=True)) == {
        "result": [[{"document": {"id": "7", "contents": '"The "City of Light""\nParis.\nSecond line 🗼.'}, "score": 0.5}], []]
    }


def test_response_without_scores() -> None:
    """F3: scores not asked for: the documents alone."""
    assert json.loads(wire.response([[PARIS]], return_scores=False)) == {
        "result": [[{"id": "7", "contents": '"The "City of Light""\nParis.\nSecond line 🗼.'}]]
    }


@pytest.mark.parametrize("return_scores", [True, False])
def test_response_round_trip(return_scores: bool) -> None:
    """F3: both shapes are read; without scores they are 0. Titles with quotes and texts of several lines stay whole."""
    ((hit,),) = wire.read_response(wire.response([[PARIS]], return_scores))
    assert hit.passage == PARIS.passage
    assert hit.score == (0.5 if return_scores else 0.0)


@pytest.mark.parametrize(
    ("contents", "title", "text"),
    [
        ('"Paris"\nCapital.', "Paris", "Capital."),
        ("Paris\nCapital.", "Paris", "Capital."),
        ("no title at all", "", "no title at all"),
        ('"\ntext', '"', "text"),
        ('""\ntext', "", "text"),
        ('"Paris"\n', "Paris", ""),
    ],
)
def test_contents(contents: str, title: str, text: str) -> None:
    """The first line is the title, in quotes or not; a single line is text."""
    ((hit,),) = wire.read_response(json.dumps({"result": [[{"id": 3, "contents": contents}]]}).encode())
    assert hit.passage == Passage(id="3", title=title, text=text)


@pytest.mark.parametrize(
    "body",
    [b"<html>", b"{}", b'{"result": 1}', b'{"result": [1]}', b'{"result": [[1]]}', b'{"result": [[{"document": {}}]]}',
     b'{"result": [[{"document": {"contents": "a"}, "score": "high"}]]}', b'{"result": [[{"contents": null}]]}'],
)  # fmt: skip
def test_malformed_responses(body: bytes) -> None:
    """Whatever a server sends instead is recognised."""
    with pytest.raises(Malformed):
        wire.read_response(body)
