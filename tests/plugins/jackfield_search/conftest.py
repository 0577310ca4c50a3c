"""A tiny corpus, an embedder without weights, and a cache of one's own for every test."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from jackfield.types import Passage
from jackfield_search.index import LocalIndex
from jackfield_search.server import SearchHttpServer

PASSAGES = (
    ("Paris", "Capital of France. Paris lies on the river Seine."),
    ("France", "Country in Europe. Its capital is Paris and its currency the euro."),
    ("Tokyo Tower", "東京タワー 🗼 is a tower in Tokyo, Japan."),
    ("Oxygen", "Chemical element. Element 8 of the periodic table."),
    ("Zürich", "Largest city of Switzerland, on the river Limmat."),
)


class TinyCorpus:
    """Passages in memory; counts how often they were read."""

    def __init__(self, passages: Sequence[tuple[str, str]]) -> None:
        self.found = [Passage(id=f"p{i}", title=title, text=text) for i, (title, text) in enumerate(passages)]
        self.reads = 0

    def passages(self) -> list[Passage]:
        self.reads += 1
        return self.found

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(repr(self.found).encode()).hexdigest()


class HashedWords:
    """A bag of words, each a random direction that its text decides."""

    fingerprint = "hashed words, 64"

    def embed(self, texts: Sequence[str], kind: str) -> npt.NDArray[np.float32]:
        return np.stack([sum((self._word(word) for word in text.lower().split()), np.zeros(64)) for text in texts]).astype(
            np.float32
        )

    def _word(self, word: str) -> npt.NDArray[np.float64]:
        seed = int.from_bytes(hashlib.sha256(word.strip(".,").encode()).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(64)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """The cache folder, which is empty; real tests keep the user's."""
    if request.node.get_closest_marker("real"):
        return tmp_path
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def make_corpus() -> Callable[[Sequence[tuple[str, str]]], TinyCorpus]:
    return TinyCorpus


@pytest.fixture
def corpus() -> TinyCorpus:
    return TinyCorpus(PASSAGES)


@pytest.fixture
def embedder() -> HashedWords:
    return HashedWords()


@pytest.fixture
def serving() -> Iterator[Callable[[LocalIndex], str]]:
    """Serves an index on a free port; gives the address."""
    import threading

    running: list[tuple[SearchHttpServer, threading.Thread]] = []

    def serve(index: LocalIndex) -> str:
        server = SearchHttpServer(("127.0.0.1", 0), index, "bm25", 3)
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield serve
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()
