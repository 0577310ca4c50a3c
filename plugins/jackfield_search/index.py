"""A local index over a corpus: what is missing is built into the cache folder, everything is memory-mapped from there."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

from attrs import frozen

from jackfield.errors import UserError
from jackfield.packages import cache_folder
from jackfield.stages import Corpus
from jackfield.types import Passage
from jackfield_search import dense, lexical, passages
from jackfield_search.cached import built, folder_name
from jackfield_search.dense import DenseIndex, Embedder
from jackfield_search.lexical import LexicalIndex
from jackfield_search.passages import StoredPassages
from jackfield_search.ranking import Ranked, fuse

RetrieverName = Literal["bm25", "dense", "fusion"]

_VERSION = 1
"""Of everything that decides what the built files hold: raise it with every change."""
_FUSION_DEPTH = 100
"""Ranks of each list that fusion looks at, at least."""


@frozen(kw_only=True)
class Hit:
    """A passage found, and how well it fits (comparable only within one search)."""

    passage: Passage
    score: float


class Retriever(Protocol):
    """Answers queries: a local index or a server."""

    def search(self, query: str, k: int) -> list[Hit]:
        """The ``k`` best passages, best first; fewer if there are no more. The query is clean and not empty."""
        ...

    def weight(self, term: str) -> float:
        """How much a term tells about a passage."""
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...


class LocalIndex:
    """BM25, dense or fused search over a corpus.

    Each part has a folder of its own in the cache (passages, BM25, vectors of an embedder), so retrievers share them.
    The BM25 part is always there: its term statistics also choose the window of a passage.
    """

    def __init__(self, corpus: Corpus, retriever: RetrieverName, embedder: Embedder | None = None) -> None:
        """Raises UserError if the corpus is empty."""
        self._retriever = retriever
        root = cache_folder() / "search" / folder_name(f"{_VERSION} {corpus.fingerprint}")
        self.passages = StoredPassages(built(root / "passages", lambda folder: _write_passages(folder, corpus)))
        self._lexical = LexicalIndex(built(root / "bm25", lambda folder: lexical.build(folder, self.passages)))
        self._dense: DenseIndex | None = None
        if retriever != "bm25":
            if embedder is None:
                raise ValueError(f"retriever {retriever!r} needs an embedder")
            place = root / f"dense-{folder_name(embedder.fingerprint)}"
            self._dense = DenseIndex(built(place, lambda folder: dense.build(folder, self.passages, embedder)), embedder)

    def search(self, query: str, k: int) -> list[Hit]:
        return [Hit(passage=self.passages[position], score=score) for position, score in self._ranked(query, k)]

    def weight(self, term: str) -> float:
        return self._lexical.weight(term)

    def close(self) -> None:
        """Nothing: memory maps end with the object."""

    def _ranked(self, query: str, k: int) -> Ranked:
        if self._dense is None:
            return self._lexical.search(query, k)
        if self._retriever == "dense":
            return self._dense.search(query, k)
        depth = max(k, _FUSION_DEPTH)
        return fuse([self._lexical.search(query, depth), self._dense.search(query, depth)], k)


def _write_passages(folder: Path, corpus: Corpus) -> None:
    found = corpus.passages()
    if not found:
        raise UserError("the corpus has no passages: there is nothing to search")
    passages.write(folder, found)


__all__ = ["Hit", "LocalIndex", "Retriever", "RetrieverName"]
