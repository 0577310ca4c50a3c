"""Runs side by side in figures and curves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from jackfield.compare import plots, table
from jackfield.compare.record import read_run
from jackfield.compare.table import Compared
from jackfield.plugins import Plugins
from jackfield.statistics import bootstrap_interval, wilson_interval

BEFORE = {"t1": 1.0, "t2": 0.0, "t3": 0.0, "t4": 0.0, "t5": 0.0, "t6": 1.0}
AFTER = {"t1": 1.0, "t2": 1.0, "t3": 1.0, "t4": 1.0, "t5": 1.0, "t7": 1.0}


@pytest.fixture
def lines(make_run, plugins: Plugins) -> list[Compared]:  # type: ignore[no-untyped-def]
    """A single run; and a recipe with two seeds, which agree on all but t1."""
    other = AFTER | {"t1": 0.0}
    seeds = [make_run(f"b{seed}", [0.2, 0.6], scores, seed=seed) for seed, scores in enumerate([AFTER, other])]
    first = Compared(name="first", runs=(read_run(make_run("a", [0.1, 0.3], BEFORE), plugins),))
    return [first, Compared(name="second", runs=tuple(read_run(folder, plugins) for folder in seeds))]


def test_accuracy_and_pairs(lines: list[Compared]) -> None:
    """A single run of 0 and 1 has Wilson's interval; seeds are averaged task by task, and tasks resampled. The pair is of the five tasks
    that both have: (1, 0, 0, 0, 0) against (1/2, 1, 1, 1, 1)."""
    first, second = lines
    alone, pooled = first.accuracy("exact_match"), second.accuracy("exact_match")
    assert alone is not None
    assert pooled is not None
    assert (alone.value, alone.low, alone.interval) == (2 / 6, wilson_interval(2, 6).low, "wilson")
    assert pooled.value == pytest.approx(5.5 / 6)
    assert (pooled.low, pooled.interval) == (bootstrap_interval([0.5, 1, 1, 1, 1, 1]).low, "bootstrap")
    pair = second.against(first, "exact_match")
    assert pair is not None
    assert (pair.tasks, pair.test, pair.only_first, pair.only_second) == (5, "bootstrap", 1, 4)
    assert pair.difference == pytest.approx(4.5 / 5 - 1 / 5)
    assert second.accuracy("f1") is None


def test_the_text(lines: list[Compared]) -> None:
    """Every source is a column of its own, an observing one too; means are of the last steps, costs of a run."""
    text = table.markdown("both", lines)
    rows = {row.split(" | ")[0].strip("| ") + str(i): row for i, row in enumerate(text.splitlines()) if row.startswith("| ")}
    assert any(row.startswith("| first | exact_match | 6 | 0.333 [0.097, 0.700] |") for row in rows.values())
    assert any("| 0: 1.000, 1: 0.833 | +0.700 [" in row for row in rows.values())
    assert "|  | reward/mean | reward/exact_match | reward/smoke | KL | policy tokens a rollout |" in text
    assert "| first | 0.200 | 0.200 | 0.800 | 0.015 | 11.500 |" in text
    assert "| second | 2 | 2 | 240 | 0.2 | 3.0 | policy |" in text
    assert "Without scores" not in text


def test_a_run_without_scores_is_named(lines: list[Compared]) -> None:
    """It stays in the other tables, and is in the first in no way."""
    silent = Compared(name="silent", runs=(evolve(lines[0].runs[0], result=None),))
    text = table.markdown("x", [*lines, silent])
    assert "Without scores of an evaluation (`jackfield eval RUN` makes them): silent." in text
    assert "| silent | 0.200 |" in text


def test_the_file_has_every_number(lines: list[Compared], tmp_path: Path) -> None:
    """And the curves, so that other plots can be made of it."""
    table.write_json(tmp_path / "table.json", lines)
    known = json.loads((tmp_path / "table.json").read_text())
    assert known["first"] == "first"
    second = known["lines"][1]
    assert second["evaluation"]["exact_match"]["against_first"]["tasks"] == 5
    assert [point["tokens"] for point in second["runs"][0]["training"]] == [80, 240]
    assert known["lines"][0]["evaluation"]["exact_match"]["against_first"] is None


def test_curves(lines: list[Compared]) -> None:
    """One a run under its line's name."""
    assert table.series(lines, "reward/mean", "tokens") == {
        "first": [([80, 240], [0.1, 0.3])],
        "second": [([80, 240], [0.2, 0.6]), ([80, 240], [0.2, 0.6])],
    }
    assert table.series(lines, "evaluation/exact_match", "seconds")["first"] == [([0.0, 10.0], [0.0, 2 / 6])]
    assert table.series(lines, "critic/explained_variance", "seconds") == {}


def test_plots_are_pictures(lines: list[Compared], tmp_path: Path) -> None:
    """Two of them, a panel for every quantity against tokens and against seconds."""
    pytest.importorskip("matplotlib")
    written = plots.draw(lines, tmp_path)
    assert [path.name for path in written] == ["evaluation.png", "training.png"]
    heights = []
    for path in written:
        data = path.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        heights.append(int.from_bytes(data[20:24]))
    assert heights[1] == 5 * heights[0]  # three rewards, KL and length against one source of the evaluation
