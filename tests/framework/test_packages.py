from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from jackfield import packages
from jackfield.errors import UserError

CONTENT = b"a wheel"
SHA = hashlib.sha256(CONTENT).hexdigest()


class FakePip:
    """Stands where ``subprocess.run`` is: leaves files in ``--dest`` as pip would, and counts the calls."""

    def __init__(self, files: dict[str, bytes], returncode: int = 0, stderr: str = "") -> None:
        self.files, self.returncode, self.stderr = files, returncode, stderr
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        folder = Path(command[command.index("--dest") + 1])
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        return subprocess.CompletedProcess(command, self.returncode, "", self.stderr)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path))
    return tmp_path


def use(monkeypatch: pytest.MonkeyPatch, pip: FakePip) -> FakePip:
    monkeypatch.setattr(packages.subprocess, "run", pip)
    return pip


def test_cache_folder_follows_the_environment(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """$JACKFIELD_CACHE decides; without it (or empty) the cache is in the home folder."""
    assert packages.cache_folder() == cache
    monkeypatch.setenv("JACKFIELD_CACHE", "")
    assert packages.cache_folder() == Path.home() / ".cache" / "jackfield"


def test_a_wheel_is_downloaded_once_and_no_partial_folder_stays(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second fetch takes the cached file; only wheels, and no dependencies, are asked for."""
    pip = use(monkeypatch, FakePip({"acme-1.0-py3-none-any.whl": CONTENT}))
    first, second = packages.fetch("Acme==1.0", SHA), packages.fetch("acme==1.0", SHA)
    assert first == second
    assert first.read_bytes() == CONTENT
    assert len(pip.commands) == 1
    assert {"--no-deps", "--only-binary=:all:"} <= set(pip.commands[0])
    assert [p.name for p in first.parent.iterdir()] == ["acme-1.0-py3-none-any.whl"]


def test_wrong_content_is_refused_and_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A download with another sha256 names both sums and leaves nothing in the cache."""
    use(monkeypatch, FakePip({"acme-1.0-py3-none-any.whl": b"something else"}))
    with pytest.raises(UserError, match=f"expected {SHA}"):
        packages.fetch("acme==1.0", SHA)
    assert not list(cache.rglob("*.whl"))


def test_a_damaged_cached_wheel_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cached file is verified on every use, and the message says to delete it."""
    use(monkeypatch, FakePip({"acme-1.0-py3-none-any.whl": CONTENT}))
    packages.fetch("acme==1.0", SHA).write_bytes(CONTENT[:-1])
    with pytest.raises(UserError, match="delete it to download it again"):
        packages.fetch("acme==1.0", SHA)


def test_failing_pip_gives_its_reason_and_a_way_out(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip's own error is quoted without its warnings, with what to do about it."""
    stderr = "WARNING: retrying\nERROR: No matching distribution found for acme==1.0\n"
    use(monkeypatch, FakePip({}, 1, stderr))
    expected = r"\(No matching distribution found for acme==1\.0\)\. Check the network .* put the wheel into "
    with pytest.raises(UserError, match=expected):
        packages.fetch("acme==1.0", SHA)


@pytest.mark.parametrize("requirement", ["acme", "acme>=1.0", "--index-url==x", "acme==1.0 other", ""])
def test_only_pinned_requirements(requirement: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything but name==version is refused before pip starts, options among them."""
    pip = use(monkeypatch, FakePip({}))
    with pytest.raises(UserError, match="pinned"):
        packages.fetch(requirement, None)
    assert not pip.commands
