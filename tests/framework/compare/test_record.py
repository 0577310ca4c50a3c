"""A run folder as curves and scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from jackfield.compare.record import read_run
from jackfield.errors import UserError
from jackfield.plugins import Plugins
from jackfield.result import Result


def test_curves_are_over_what_had_been_spent(make_run, plugins: Plugins) -> None:  # type: ignore[no-untyped-def]
    """Tokens are speed × seconds of generating (40·2, then 80·2), seconds those of training steps; an evaluation stands where the steps
    before it end and costs nothing."""
    run = read_run(make_run("a", [0.1, 0.3], {"t1": 1.0, "t2": 0.0}), plugins)
    assert [(p.step, p.tokens, p.seconds) for p in run.training] == [(1, 80, 5.0), (2, 240, 10.0)]
    assert [(p.step, p.tokens, p.seconds) for p in run.evaluations] == [(0, 0, 0.0), (2, 240, 10.0)]
    assert run.last["reward/mean"] == pytest.approx(0.2)
    assert run.peak_gib == 3.0
    assert run.result is not None
    assert run.result.means("exact_match") == {"t1": 1.0, "t2": 0.0}


def test_last_figures_are_of_ten_steps(make_run, plugins: Plugins) -> None:  # type: ignore[no-untyped-def]
    """The first five of fifteen do not count."""
    run = read_run(make_run("a", [9.0] * 5 + [0.5] * 10, {"t": 1.0}), plugins)
    assert run.last["reward/mean"] == pytest.approx(0.5)


def test_models_held_are_those_that_some_part_needs(make_run, plugins: Plugins) -> None:  # type: ignore[no-untyped-def]
    """A KL loss of weight 0 holds no reference."""
    assert read_run(make_run("off", [0.1], {"t": 1.0}), plugins).held == ("policy",)
    assert read_run(make_run("on", [0.1], {"t": 1.0}, kl=0.1), plugins).held == ("policy", "reference")


def test_recordings_are_no_scores_of_the_policy(make_run, plugins: Plugins) -> None:  # type: ignore[no-untyped-def]
    """Where the engine plays recordings, only an evaluation by another recipe counts; it becomes the end of the curve."""
    folder: Path = make_run("dpo", [0.1, 0.2], {"t1": 1.0}, engine="recorded")
    alone = read_run(folder, plugins)
    assert (alone.sampled, alone.evaluations, alone.result) == (False, (), None)
    other = Result(what="m", digest="", step=None, samples=1, temperature=0.0, scores={"exact_match": {"t1": (0.0,), "t2": (1.0,)}})
    other.write(folder / "evaluations" / "by.json")
    judged = read_run(folder, plugins, folder / "evaluations" / "by.json")
    assert judged.result == other
    assert [(p.step, p.metrics) for p in judged.evaluations] == [(2, {"evaluation/exact_match": 0.5})]


def test_a_run_without_metrics_is_refused(make_run, plugins: Plugins) -> None:  # type: ignore[no-untyped-def]
    """It says which tracker it lacks."""
    folder: Path = make_run("a", [0.1], {"t": 1.0})
    (folder / "metrics.jsonl").unlink()
    with pytest.raises(UserError, match="metrics_jsonl"):
        read_run(folder, plugins)


def test_a_metric_that_was_no_number_is_left_out(make_run, plugins: Plugins) -> None:  # type: ignore[no-untyped-def]
    """null stands for NaN in the file; and a line that a killed run left unfinished is no line."""
    folder: Path = make_run("a", [0.1, 0.3], {"t": 1.0})
    text = (folder / "metrics.jsonl").read_text().replace('"reward/mean": 0.3', '"reward/mean": null')
    (folder / "metrics.jsonl").write_text(text + '{"kind": "st')
    run = read_run(folder, plugins)
    assert run.last["reward/mean"] == 0.1
    assert run.last["reward/exact_match"] == pytest.approx(0.2)
