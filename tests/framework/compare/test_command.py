"""``jackfield compare`` from the command line, over runs that are there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from jackfield.cli.main import main
from jackfield.compare.grid import Maker
from jackfield.errors import Problem


def test_finished_runs(make_run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    """Into a folder named after them; without matplotlib the tables are there all the same, and how to get the plots is said."""
    runs = [make_run(name, [0.1, 0.2], {"t1": score, "t2": 1.0}) for name, score in (("a", 0.0), ("b", 1.0))]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["compare", *map(str, runs)]) == 0
    printed = capsys.readouterr().out
    assert "| b | exact_match | 2 | 1.000 [0.342, 1.000] |" in printed
    assert "pip install 'jackfield[compare]'" in printed
    folder = tmp_path / "comparisons/a-and-1-more"
    assert sorted(path.name for path in folder.iterdir()) == ["table.json", "table.md"]
    assert (folder / "table.md").read_text().strip() in printed


def test_a_failed_cell_is_told_at_the_end(make_run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:  # type: ignore[no-untyped-def]
    """With exit code 1, after the table of the others."""
    folder = make_run("a", [0.1], {"t1": 1.0})

    def bring(self: Maker, entry: object) -> list[tuple[Path, None]]:
        if self.failed:
            return [(folder, None)]
        self.failed.append(Problem("x", "", "jackfield run ended with exit code 1"))
        return []

    monkeypatch.setattr(Maker, "bring", bring)
    assert main(["compare", str(folder), str(folder), "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr()
    assert told.err == "jackfield: x: jackfield run ended with exit code 1\n"
    assert "| a#2 |" in told.out


def test_every_recipe_is_checked_before_the_first_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:  # type: ignore[no-untyped-def]
    """A mistake in the last one costs no run of the first."""
    (tmp_path / "bad.toml").write_text('title = "bad"\n')
    monkeypatch.setattr(Maker, "bring", lambda *_: pytest.fail("something was run"))
    assert main(["compare", "grpo_sums", str(tmp_path / "bad.toml")]) == 2
    assert "bad.toml" in capsys.readouterr().err
