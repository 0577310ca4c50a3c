from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt
import pytest

from jackfield.types import Passage
from jackfield_search.dense import DenseIndex, build


class Given:
    """Vectors by text."""

    fingerprint = "given"

    def __init__(self, **vectors: Sequence[float]) -> None:
        self.vectors = vectors

    def embed(self, texts: Sequence[str], kind: str) -> npt.NDArray[np.float32]:
        return np.array([self.vectors[text.strip()] for text in texts], np.float32)


def index_of(folder: Path, embedder: Given, texts: Sequence[str]) -> DenseIndex:
    build(folder, [Passage(id=str(i), title="", text=text) for i, text in enumerate(texts)], embedder)
    return DenseIndex(folder, embedder)


def test_nearest_by_cosine(tmp_path: Path) -> None:
    """Against float64 cosines over 3,000 random vectors of all lengths (more than one batch)."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((3000, 16)) * rng.uniform(0.1, 10, (3000, 1))
    texts = [f"t{i}" for i in range(3000)]
    query = rng.standard_normal(16)
    index = index_of(tmp_path, Given(q=query, **dict(zip(texts, vectors, strict=True))), texts)
    cosine = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    expected = np.argsort(-cosine)[:10]
    found = index.search("q", 10)
    assert [position for position, _ in found] == expected.tolist()
    assert [score for _, score in found] == pytest.approx(cosine[expected], abs=1e-6)


def test_more_than_there_are(tmp_path: Path) -> None:
    """F1: ten of three are three, in order, and never id -1."""
    index = index_of(tmp_path, Given(q=[1, 0], a=[0, 1], b=[1, 0], c=[1, 1]), ["a", "b", "c"])
    assert [position for position, _ in index.search("q", 10)] == [1, 2, 0]


@pytest.mark.parametrize("k", [1, 3, 7])
def test_equal_scores_go_by_position(tmp_path: Path, k: int) -> None:
    """FAISS alone would give the last ones of a hundred copies."""
    index = index_of(tmp_path, Given(q=[1, 1], far=[1, -1], near=[2, 2]), ["far", *["near"] * 100, "far"])
    assert [position for position, _ in index.search("q", k)] == list(range(1, k + 1))


def test_a_text_without_known_words_finds_in_order(tmp_path: Path) -> None:
    """A vector of zeros is equally far from everything, and no NaN."""
    index = index_of(tmp_path, Given(q=[0, 0], a=[0, 1], b=[0, 0]), ["a", "b"])
    assert index.search("q", 2) == [(0, 0.0), (1, 0.0)]


def test_vectors_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    """A broken embedder is an error of its own, not a strange ranking."""
    with pytest.raises(ValueError, match="not finite"):
        index_of(tmp_path, Given(a=[np.nan, 1]), ["a"])


def test_vectors_stay_on_disk(tmp_path: Path) -> None:
    """The file is memory-mapped, not read."""
    index = index_of(tmp_path, Given(q=[1, 0], a=[0, 1]), ["a"])
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("needs /proc")
    assert "vectors.faiss" in maps.read_text()
    assert index.search("q", 1) == [(0, 0.0)]


def test_faiss_gets_one_thread_and_gives_the_others_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F5: no OpenMP team beside torch's during a search, and the setting of the caller afterwards."""
    index = index_of(tmp_path, Given(q=[1, 0], a=[0, 1]), ["a"])
    during = []
    nearest = index._nearest

    def watched(*arguments: Any) -> Any:
        during.append(faiss.omp_get_max_threads())
        return nearest(*arguments)

    monkeypatch.setattr(index, "_nearest", watched)
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(3)
    try:
        index.search("q", 1)
        assert during == [1]
        assert faiss.omp_get_max_threads() == 3
    finally:
        faiss.omp_set_num_threads(before)
