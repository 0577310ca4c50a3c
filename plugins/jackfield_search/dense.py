"""Exact nearest neighbours by cosine, through FAISS."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from jackfield.types import Passage
from jackfield_search.ranking import Ranked

Vectors = npt.NDArray[np.float32]
Kind = Literal["query", "passage"]

_log = logging.getLogger(__name__)
_FILE = "vectors.faiss"
_BATCH = 1024


class Embedder(Protocol):
    """What the hook ``jackfield_embedders`` offers: text to vectors whose cosine says how close two texts are."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the vectors could; names the cached index. Must be cheap: nothing is loaded for it."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """[len(texts), d] one finite vector a text, of any length (it is normalised here). Loads on first use; never called twice at once."""
        ...


def build(folder: Path, passages: Sequence[Passage], embedder: Embedder) -> None:
    """Embed title and text of every passage."""
    import faiss

    batches = _embedded(passages, embedder)
    first = next(batches)
    index = faiss.IndexFlatIP(first.shape[1])
    index.add(first)
    for vectors in batches:
        index.add(vectors)
    faiss.write_index(index, str(folder / _FILE))


def _embedded(passages: Sequence[Passage], embedder: Embedder) -> Iterator[Vectors]:
    for start in range(0, len(passages), _BATCH):
        _log.info("embedding passages %d to %d of %d", start + 1, min(start + _BATCH, len(passages)), len(passages))
        texts = [f"{passage.title}\n{passage.text}" for passage in passages[start : start + _BATCH]]
        yield _unit(embedder.embed(texts, "passage"))


class DenseIndex:
    """What ``build`` wrote, memory-mapped, and the embedder for queries."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        import faiss

        self._index = faiss.read_index(str(folder / _FILE), faiss.IO_FLAG_MMAP_IFC)
        self._embedder = embedder
        self._lock = threading.Lock()

    def search(self, query: str, k: int) -> Ranked:
        """The ``k`` nearest passages, or all."""
        with self._lock:
            vector = _unit(self._embedder.embed([query], "query"))
        with _one_thread():
            return self._nearest(vector, k)

    def _nearest(self, vector: Vectors, k: int) -> Ranked:
        """FAISS keeps the latest of equal scores, and puts id -1 where it runs out: so ask for more until the last is clearly worse
        than the k-th or there are no more, never for more than there are, and order them here."""
        asked = min(k + 1, self._index.ntotal)
        while True:
            scores, ids = (found[0] for found in self._index.search(vector, asked))
            if asked == self._index.ntotal or scores[-1] < scores[k - 1]:
                order = np.lexsort((ids, -scores))[:k]
                return [(int(ids[i]), float(scores[i])) for i in order]
            asked = min(4 * asked, self._index.ntotal)


def _unit(vectors: Vectors) -> Vectors:
    """[n, d] of length 1; a vector of zeros (a text without known words) stays, and is equally far from everything."""
    if not np.isfinite(vectors).all():
        raise ValueError("the embedder gave a vector that is not finite")
    length = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(length > 0, length, 1), np.float32)


@contextmanager
def _one_thread() -> Iterator[None]:
    """FAISS brings an OpenMP of its own beside torch's. With one thread it starts no team: nothing to clash or to spin against
    torch's threads; a single query over a flat index uses one in any case. The setting belongs to the calling thread."""
    import faiss

    threads: Any = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


__all__ = ["DenseIndex", "Embedder", "Kind", "Vectors", "build"]
