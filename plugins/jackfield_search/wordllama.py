"""Static token vectors out of the package wordllama, whose own code is neither installed nor run (its loader asks the network)."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import define, field

from jackfield.errors import UserError
from jackfield.packages import fetch
from jackfield_search.dense import Kind, Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PACKAGE = "wordllama==0.4.0.post1"
_VECTORS = ("wordllama/weights/l2_supercat_256.safetensors", "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5")
_TOKENIZER = (
    "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
)
"""Files and their sha256. The wheels differ from platform to platform, these do not."""


@define(kw_only=True, eq=False)
class WordLlama:
    """The mean of a text's static token vectors (32,000 tokens, 256 numbers each). The word order and the kind of text count nothing."""

    _matrix: Vectors | None = field(init=False, default=None, repr=False)
    _tokenizer: Tokenizer | None = field(init=False, default=None, repr=False)

    @property
    def fingerprint(self) -> str:
        return f"wordllama {_VECTORS[1]} {_TOKENIZER[1]}"

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:  # noqa: ARG002
        """[n, 256]; zeros for a text without tokens. Raises UserError if the package cannot be fetched."""
        if self._matrix is None or self._tokenizer is None:
            self._load()
        assert self._matrix is not None
        assert self._tokenizer is not None
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]
        nothing = np.zeros(self._matrix.shape[1], np.float32)
        return np.stack([self._matrix[ids].mean(0) if ids else nothing for ids in tokens])

    def _load(self) -> None:
        from safetensors.numpy import load
        from tokenizers import Tokenizer

        with zipfile.ZipFile(fetch(_PACKAGE, None)) as archive:
            (matrix,) = load(_member(archive, *_VECTORS)).values()
            self._tokenizer = Tokenizer.from_str(_member(archive, *_TOKENIZER).decode())
        self._matrix = matrix.astype(np.float32)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()


def _member(archive: zipfile.ZipFile, name: str, sha256: str) -> bytes:
    content = archive.read(name)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise UserError(
            f"{archive.filename}: {name} is not the file expected (sha256 {found}, expected {sha256}); delete the package"
        )
    return content


__all__ = ["WordLlama"]
