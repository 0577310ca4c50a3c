from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jackfield.errors import UserError
from jackfield.types import Passage
from jackfield_search.lexical import LexicalIndex, build
from jackfield_search.terms import terms


def bm25_reference(passages: list[Passage], query: str) -> dict[int, float]:
    """Lucene's BM25 in float64, the title three times: Σ idf · tf / (tf + k1 · (1 − b + b · length / mean length))."""
    texts = [terms(f"{p.title} {p.title} {p.title} {p.text}") for p in passages]
    mean = sum(map(len, texts)) / len(texts)
    scores = {}
    for position, text in enumerate(texts):
        score = 0.0
        for term in terms(query):
            holding = sum(term in other for other in texts)
            idf = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            tf = text.count(term)
            score += idf * tf / (tf + 1.5 * (1 - 0.75 + 0.75 * len(text) / mean))
        if score > 0:
            scores[position] = score
    return scores


@pytest.mark.parametrize("query", ["capital of France", "river", "element 8", "zurich", "paris paris euro", "東京タワー 🗼"])
def test_scores_are_bm25(tmp_path: Path, corpus: Any, query: str) -> None:
    """Scores and order against a float64 reference; passages that share no term are not found."""
    build(tmp_path, corpus.passages())
    found = LexicalIndex(tmp_path).search(query, k=10)
    expected = bm25_reference(corpus.passages(), query)
    assert dict(found) == pytest.approx(expected, rel=1e-5)
    assert [position for position, _ in found] == sorted(expected, key=lambda position: -expected[position])


@pytest.mark.parametrize("query", ["zebra", "the of and", "🗼"])
def test_nothing_in_common_finds_nothing(tmp_path: Path, corpus: Any, query: str) -> None:
    """Unknown words, stopwords only or no word at all: no passage, rather than the first few."""
    build(tmp_path, corpus.passages())
    assert LexicalIndex(tmp_path).search(query, k=3) == []


def test_equal_scores_go_by_position(tmp_path: Path) -> None:
    """Twenty copies of one passage: the first three in the corpus's order."""
    build(tmp_path, [Passage(id=str(i), title="Paris", text="Capital of France.") for i in range(20)])
    assert [position for position, _ in LexicalIndex(tmp_path).search("paris", k=3)] == [0, 1, 2]


def test_weight_is_the_inverse_document_frequency(tmp_path: Path, corpus: Any) -> None:
    """paris stands in two of five passages, oxygen in one, zebra in none."""
    build(tmp_path, corpus.passages())
    index = LexicalIndex(tmp_path)
    assert index.weight("paris") == pytest.approx(math.log(1 + 3.5 / 2.5))
    assert index.weight("oxygen") == pytest.approx(math.log(1 + 4.5 / 1.5))
    assert index.weight("zebra") == 0.0


def test_scores_stay_on_disk(tmp_path: Path, corpus: Any) -> None:
    """The matrix is memory-mapped, not read."""
    build(tmp_path, corpus.passages())
    assert isinstance(LexicalIndex(tmp_path)._index.scores["data"], np.memmap)


def test_no_bars_are_printed(tmp_path: Path, corpus: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """bm25s draws progress bars unless told not to."""
    build(tmp_path, corpus.passages())
    LexicalIndex(tmp_path).search("paris", 2)
    assert capfd.readouterr() == ("", "")


def test_a_corpus_without_words_is_refused(tmp_path: Path) -> None:
    """Nothing could ever be found."""
    with pytest.raises(UserError, match="none of its passages has a word"):
        build(tmp_path, [Passage(id="a", title="…", text="!?")])
