from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from jackfield.errors import UserError
from jackfield_search import wordllama
from jackfield_search.wordllama import WordLlama

MATRIX = np.array([[0, 0], [1, 0], [0, 2], [4, 4]], np.float16)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of four token vectors in place of the real one."""
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "a": 1, "b": 2, "c": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    contents = {"vectors": save({"embedding.weight": MATRIX}), "tokenizer": tokenizer.to_str().encode()}
    wheel = tmp_path / "tiny.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    monkeypatch.setattr(wordllama, "fetch", lambda requirement, sha256: wheel)
    monkeypatch.setattr(wordllama, "_VECTORS", ("vectors", hashlib.sha256(contents["vectors"]).hexdigest()))
    monkeypatch.setattr(wordllama, "_TOKENIZER", ("tokenizer", hashlib.sha256(contents["tokenizer"]).hexdigest()))
    return wheel


def test_mean_of_token_vectors(package: Path) -> None:
    """Each text for itself, whatever stands beside it; nothing for no tokens."""
    found = WordLlama().embed(["a b", "c", "", "a a a b"], "passage")
    assert found.dtype == np.float32
    assert found.tolist() == [[0.5, 1.0], [4.0, 4.0], [0.0, 0.0], [0.75, 0.5]]


def test_another_file_is_refused(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content is what was pinned, or it is an error."""
    monkeypatch.setattr(wordllama, "_VECTORS", ("vectors", "0" * 64))
    with pytest.raises(UserError, match="vectors is not the file expected"):
        WordLlama().embed(["a"], "query")


@pytest.mark.real
def test_the_real_vectors() -> None:
    """Close texts are closer than others, and the vectors have 256 numbers."""
    vectors = WordLlama().embed(["the capital of France", "Paris is a French city", "oxygen is a gas"], "query")
    assert vectors.shape == (3, 256)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2] + 0.1
