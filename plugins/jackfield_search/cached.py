"""Folders built once: written beside their place, verified on every use, built again if they are damaged."""

from __future__ import annotations

import hashlib
import json
import logging
import tempfile
from collections.abc import Callable
from pathlib import Path

_log = logging.getLogger(__name__)
_MANIFEST = "manifest.json"


def built(folder: Path, build: Callable[[Path], None]) -> Path:
    """``folder``, whole: as it is if its files are what was written, else made anew by ``build(empty folder)``.

    Several processes may ask at once: each builds for itself, the first to finish wins, nobody sees half a folder. Verifying
    reads every file once (about a second a GB).
    """
    fault = _fault(folder)
    if fault is None:
        return folder
    if folder.exists():
        _log.warning("the search index in %s is damaged (%s); it is built again", folder, fault)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="partial-") as scratch:
        fresh = Path(scratch) / "fresh"
        fresh.mkdir()
        build(fresh)
        manifest = {path.name: _digest(path) for path in sorted(fresh.iterdir())}
        (fresh / _MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        _take_place(fresh, folder, Path(scratch) / "damaged")
    return folder


def _take_place(fresh: Path, folder: Path, damaged: Path) -> None:
    try:
        fresh.rename(folder)
    except OSError:
        if _fault(folder) is None:  # another process was faster
            return
        folder.rename(damaged)
        fresh.rename(folder)


def _fault(folder: Path) -> str | None:
    """What is wrong with a built folder, or None."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        wrong = [name for name, digest in manifest.items() if _digest(folder / name) != digest]
    except (OSError, ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
    return None if manifest and not wrong else f"changed: {', '.join(wrong) or _MANIFEST}"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_name(text: str) -> str:
    """A short file name that stands for ``text``."""
    return hashlib.sha256(text.encode()).hexdigest()[:20]


__all__ = ["built", "folder_name"]
