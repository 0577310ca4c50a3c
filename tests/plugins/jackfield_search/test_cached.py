from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from jackfield_search.cached import built


def write_two(folder: Path) -> None:
    (folder / "a").write_text("first")
    (folder / "b").write_text("second")


def must_not_run(folder: Path) -> None:
    raise AssertionError("built again")


def test_built_once(tmp_path: Path) -> None:
    """A whole folder is used as it is, and nothing else is left beside it."""
    folder = built(tmp_path / "index", write_two)
    assert (folder / "a").read_text() == "first"
    assert built(tmp_path / "index", must_not_run) == folder
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


@pytest.mark.parametrize("damage", ["cut", "changed", "missing", "no manifest", "empty manifest", "broken manifest"])
def test_damage_is_mended_with_a_message(tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str) -> None:
    """Whatever happened to a file, the folder is built again, and a warning says so."""
    folder = built(tmp_path / "index", write_two)
    match damage:
        case "cut":
            (folder / "b").write_text("sec")
        case "changed":
            (folder / "b").write_text("Second")
        case "missing":
            (folder / "b").unlink()
        case "no manifest":
            (folder / "manifest.json").unlink()
        case "empty manifest":
            (folder / "manifest.json").write_text("{}")
        case "broken manifest":
            (folder / "manifest.json").write_text('{"a"')
    with caplog.at_level(logging.WARNING):
        built(tmp_path / "index", write_two)
    assert "damaged" in caplog.text
    assert (folder / "b").read_text() == "second"
    assert built(tmp_path / "index", must_not_run) == folder


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    """A build that raises leaves neither a folder nor scraps, so the next try starts clean."""

    def fail(folder: Path) -> None:
        (folder / "a").write_text("half")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        built(tmp_path / "index", fail)
    assert list(tmp_path.iterdir()) == []


def test_several_builders_at_once(tmp_path: Path) -> None:
    """Builders that finish together agree on one whole folder."""
    together = threading.Barrier(4)

    def build(folder: Path) -> None:
        write_two(folder)
        together.wait()

    threads = [threading.Thread(target=built, args=(tmp_path / "index", build)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built(tmp_path / "index", must_not_run).name == "index"
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
