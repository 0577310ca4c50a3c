"""A result keeps every task's scores; figures, comparisons and files are made of those."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import scipy.stats
from attrs import evolve

from jackfield import result
from jackfield.errors import UserError
from jackfield.result import Result, compared, estimate, of_groups, of_records, read, within_run
from jackfield.statistics import bootstrap_interval, wilson_interval
from jackfield.testing.tiny_model import credited_rollout
from jackfield.types import Group, Scored, Task, Verdict

FOUR = Result(
    what="runs/x",
    digest="d",
    step=3,
    samples=4,
    temperature=1.0,
    scores={
        "em": {"a": (1.0, 0.0, 0.0, 0.0), "b": (1.0, 1.0, 1.0, 1.0), "c": (0.0, 0.0, None, 0.0), "d": (None, None, None, None)},
        "f1": {"a": (0.5, 0.25, 0.25, 0.0), "b": (1.0,) * 4, "c": (0.0,) * 4, "d": (0.0,) * 4},
    },
    labels={"a": {"hops": "1"}, "b": {"hops": "1"}, "c": {"hops": "2"}, "d": {"hops": "2"}},
)


def greedy(scores: dict[str, float | None], source: str = "em", **changes: Any) -> Result:
    known = Result(what="g", digest="", step=1, samples=1, temperature=0.0, scores={source: {t: (s,) for t, s in scores.items()}})
    return evolve(known, **changes)


def test_figures_of_samples_by_hand() -> None:
    """mean@4 over tasks of (1/4, 1, 0); pass@2 of (1/2, 1, 0); pass@4 of (1, 1) for task c has but three scores. What has no score is
    counted beside, and graded scores have no pass@k."""
    em, f1, *by_label = FOUR.summary([2, 4])
    assert (em.label, em.source, em.tasks, em.unscored) == ("", "em", 4, 5)
    assert em.mean is not None
    assert em.mean.value == pytest.approx(1.25 / 3)
    assert (em.pass_at[2].value, em.pass_at[2].tasks) == (pytest.approx(0.5), 3)
    assert (em.pass_at[4].value, em.pass_at[4].tasks) == (1.0, 2)
    assert f1.mean is not None
    assert f1.mean.value == pytest.approx((0.25 + 1) / 4)
    assert not f1.pass_at
    assert [(line.label, line.source) for line in by_label] == [
        ("hops=1", "em"),
        ("hops=1", "f1"),
        ("hops=2", "em"),
        ("hops=2", "f1"),
    ]
    assert by_label[2].mean is not None
    assert (by_label[2].mean.value, by_label[2].mean.tasks, by_label[2].unscored) == (0.0, 1, 5)


def test_which_interval() -> None:
    """Wilson's for single scores of 0 or 1, a bootstrap over tasks else; tasks all alike have Wilson's or none, never a point."""
    single = estimate([1.0, 0.0, 1.0], binary=True, alone=True)
    several = estimate([0.25, 1.0, 0.0], binary=True, alone=False)
    alike = estimate([0.0, 0.0, 0.0], binary=True, alone=False)
    graded = estimate([0.3, 0.3], binary=False, alone=True)
    assert single is not None
    assert several is not None
    assert alike is not None
    assert graded is not None
    assert (single.interval, single.low) == ("wilson", wilson_interval(2, 3).low)
    assert (several.interval, several.high) == ("bootstrap", bootstrap_interval([0.25, 1.0, 0.0]).high)
    assert (alike.interval, alike.low, alike.high) == ("wilson", 0.0, wilson_interval(0, 3).high)
    assert (graded.value, graded.low, graded.interval) == (0.3, None, "")
    assert estimate([], binary=True, alone=True) is None


def test_a_label_that_is_an_id_is_left_out() -> None:
    """More than fifty values are no way to look at a result."""
    many = greedy({f"t{i}": 1.0 for i in range(51)}, labels={f"t{i}": {"id": str(i), "half": str(i % 2)} for i in range(51)})
    assert [line.label for line in many.summary()] == ["", "half=0", "half=1"]


def test_it_comes_back_from_its_file(tmp_path: Path) -> None:
    """All of it; and the file says the figures to whoever reads it without Jackfield."""
    FOUR.write(tmp_path / "evaluations" / "x.json", [2])
    assert read(tmp_path / "evaluations" / "x.json") == FOUR
    written = json.loads((tmp_path / "evaluations" / "x.json").read_text())
    assert written["summary"][0]["pass_at"]["2"]["value"] == pytest.approx(0.5)
    assert written["scores"]["em"]["c"] == [0.0, 0.0, None, 0.0]


@pytest.mark.parametrize("text", ["", "[]", '{"evaluation/em": 0.5}'])
def test_another_file_is_refused(text: str, tmp_path: Path) -> None:
    """Whatever it holds."""
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(UserError, match="result of jackfield eval"):
        read(tmp_path / "x.json")


def test_groups_and_their_records_give_the_same() -> None:
    """Of what is played, and of what the tracker wrote of it: a failed rollout, an abstention and an error have no score."""
    from jackfield_trackers.rollouts_jsonl import record

    said = [{"em": Verdict.score(1.0)}, {"em": Verdict.abstain("no")}, {"em": Verdict.error("crash")}, {}]
    members = []
    for number, verdicts in enumerate(said):
        rollout: Scored = credited_rollout([("task", [1]), ("policy", [2])])
        members.append(
            evolve(rollout, verdicts=verdicts, reward=None, member=number, task=Task(id="t", prompt=(), labels={"k": "v"}))
        )
    group = Group(id="0/0", task=members[0].task, members=tuple(members))
    about: dict[str, Any] = {"what": "w", "digest": "", "step": 0, "samples": 4, "temperature": 1.0}
    found = of_groups([group], ["em"], **about)
    assert found.scores == {"em": {"t": (1.0, None, None, None)}}
    assert of_records([record(group, member) for member in group], **about) == found


def test_pairs_are_of_tasks_that_both_scored() -> None:
    """McNemar on the three that are in both: one only before, none only after. p agrees with SciPy's sign test."""
    before, after = greedy({"a": 1.0, "b": 0.0, "c": 1.0, "d": 1.0}), greedy({"a": 0.0, "b": 0.0, "c": 1.0, "d": None, "e": 1.0})
    found = compared(before, after)["em"]
    assert (found.tasks, found.only_first, found.only_second) == (3, 1, 0)
    assert found.p == scipy.stats.binomtest(1, 1).pvalue == 1.0


def test_what_cannot_be_paired_is_said() -> None:
    """No source in common, no task in common."""
    one = greedy({"a": 1.0})
    with pytest.raises(UserError, match="no reward source in common: em there, f1 here"):
        compared(one, greedy({"a": 1.0}, "f1"))
    with pytest.raises(UserError, match="no task in common"):
        compared(one, greedy({"z": 1.0}))


def run_with(folder: Path, step: int, logp: list[float] | None) -> Path:
    """A run folder with one evaluation's rollouts."""
    (folder / "rollouts").mkdir(parents=True, exist_ok=True)
    (folder / "recipe.toml").touch()
    segment = {"writer": "policy", "text": "x", "tokens": [1], "logp": logp}
    verdict = {"kind": "score", "value": 1.0}
    row = {"task": "t", "labels": {}, "verdicts": {"em": verdict}, "segments": [segment]}
    (folder / f"rollouts/evaluation-{step:06d}.jsonl").write_text(json.dumps(row) + "\n")
    return folder


def test_a_runs_newest_result_made_alike(tmp_path: Path) -> None:
    """Its own evaluations are greedy ones; a file of jackfield eval comes before one of the same step, and another temperature is
    another thing."""
    folder = run_with(run_with(tmp_path / "run", 0, [-0.5]), 4, [-0.1])
    assert result.find(folder, samples=1, temperature=0.0).step == 4
    greedy({"t": 0.0}, step=4, what="later").write(folder / "evaluations/step-000004-greedy.json")
    assert result.find(folder, samples=1, temperature=0.0).what == "later"
    evolve(FOUR, step=2).write(folder / "evaluations/four.json")
    assert result.find(folder, samples=4, temperature=1.0).samples == 4
    assert result.find(folder / "evaluations/four.json", samples=1, temperature=0.0).samples == 4
    with pytest.raises(UserError, match="jackfield eval"):
        result.find(folder, samples=8, temperature=1.0)


def test_recordings_say_nothing_of_the_policy(tmp_path: Path) -> None:
    """An evaluation of recorded attempts is no result."""
    assert within_run(run_with(tmp_path / "run", 4, None)) is None
