from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jackfield.errors import UserError
from jackfield_search.index import LocalIndex


def ids(index: LocalIndex, query: str, k: int) -> list[str]:
    return [hit.passage.id for hit in index.search(query, k)]


@pytest.mark.parametrize("retriever", ["bm25", "dense", "fusion"])
def test_finds_and_is_built_once(corpus: Any, embedder: Any, retriever: Any) -> None:
    """Each retriever finds the obvious passage; opened again it reads no passage and answers the same."""
    embedder = None if retriever == "bm25" else embedder
    first = LocalIndex(corpus, retriever, embedder)
    assert ids(first, "Chemical element", 1) == ["p3"]
    again = LocalIndex(corpus, retriever, embedder)
    assert corpus.reads == 1
    assert again.search("capital of France", 5) == first.search("capital of France", 5)


@pytest.mark.parametrize("retriever", ["dense", "fusion"])
def test_more_than_there_are(corpus: Any, embedder: Any, retriever: Any) -> None:
    """F1: fifty of five passages are five, each once."""
    found = ids(LocalIndex(corpus, retriever, embedder), "capital of France", 50)
    assert sorted(found) == ["p0", "p1", "p2", "p3", "p4"]


def test_more_than_there_are_bm25(make_corpus: Callable[..., Any]) -> None:
    """F1: ten of three matching passages are three."""
    assert ids(LocalIndex(make_corpus([("A", "x1"), ("B", "x1"), ("C", "x1")]), "bm25"), "x1", 10) == ["p0", "p1", "p2"]


def test_fusion_prefers_what_both_find(make_corpus: Callable[..., Any]) -> None:
    """First in one list and second in the other beats first in one and absent from the other."""

    class Turned:
        fingerprint = "turned"

        def embed(self, texts: list[str], kind: str) -> Any:
            import numpy as np

            places = {"A\nx1 x1 x1": [1, 0.5], "B\nx1 filler filler": [1, 0.1], "C\nother": [1, 0.0], "x1": [1, 0]}
            return np.array([places[text] for text in texts], np.float32)

    corpus = make_corpus([("A", "x1 x1 x1"), ("B", "x1 filler filler"), ("C", "other")])
    assert ids(LocalIndex(corpus, "bm25"), "x1", 3) == ["p0", "p1"]
    assert ids(LocalIndex(corpus, "dense", Turned()), "x1", 3) == ["p2", "p1", "p0"]
    found = LocalIndex(corpus, "fusion", Turned()).search("x1", 3)
    assert [(hit.passage.id, hit.score) for hit in found] == [
        ("p0", pytest.approx(1 / 61 + 1 / 63)),
        ("p1", pytest.approx(1 / 62 + 1 / 62)),
        ("p2", pytest.approx(1 / 61)),
    ]


def test_another_corpus_gets_another_index(corpus: Any, make_corpus: Callable[..., Any]) -> None:
    """The fingerprint names the folder: nothing stale is found."""
    LocalIndex(corpus, "bm25")
    assert ids(LocalIndex(make_corpus([("Rome", "Capital of Italy.")]), "bm25"), "capital", 5) == ["p0"]


def test_another_embedder_gets_other_vectors(corpus: Any, embedder: Any, cache: Path) -> None:
    """Vectors are kept apart by the embedder's fingerprint; passages and BM25 are shared."""
    LocalIndex(corpus, "dense", embedder)
    other = type(embedder)()
    other.fingerprint = "another"
    LocalIndex(corpus, "fusion", other)
    names = sorted(path.name for path in next((cache / "search").iterdir()).iterdir())
    assert names[0] == "bm25"
    assert [name.split("-")[0] for name in names] == ["bm25", "dense", "dense", "passages"]


@pytest.mark.parametrize("part", ["passages", "bm25", "dense"])
def test_a_damaged_index_is_built_again(
    corpus: Any, embedder: Any, cache: Path, caplog: pytest.LogCaptureFixture, part: str
) -> None:
    """One byte is lost in each part in turn: the answers are as before, and a warning says what happened."""
    before = LocalIndex(corpus, "fusion", embedder).search("capital of France", 5)
    (folder,) = cache.glob(f"search/*/{part}*")
    largest = max((path for path in folder.iterdir() if path.suffix != ".json"), key=lambda path: path.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-1])
    with caplog.at_level(logging.WARNING):
        assert LocalIndex(corpus, "fusion", embedder).search("capital of France", 5) == before
    assert "damaged" in caplog.text


def test_an_empty_corpus_is_refused(make_corpus: Callable[..., Any], cache: Path) -> None:
    """A clean message, and no folder left behind."""
    with pytest.raises(UserError, match="the corpus has no passages"):
        LocalIndex(make_corpus([]), "bm25")
    assert [path for path in cache.rglob("*") if path.is_file()] == []
