"""What a run sampled comes back as pairs, good attempts and verdicts, nothing twice and nothing from the wrong split."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from jackfield.errors import DataError
from jackfield.report import RunInfo, StepReport
from jackfield.types import Finish, Group, Message, Scored, Segment, Task, Verdict
from jackfield_rollouts.data import SampledBest, SampledPairs, SampledVerdicts
from jackfield_rollouts.reading import is_test
from jackfield_trackers.rollouts_jsonl import RolloutsJsonl

TRAIN, TEST = (next(q for q in (f"{i} + 1 =" for i in range(100)) if is_test(q) == wanted) for wanted in (False, True))
Said = tuple[str, float | None]


def group(name: str, question: str, *members: Said, cut_off: tuple[int, ...] = ()) -> Group[Scored]:
    task = Task(
        id=f"sums/{name}",
        prompt=(Message(role="system", content="Add."), Message(role="user", content=question)),
        answers=("7",),
    )
    scored = []
    for number, (text, reward) in enumerate(members):
        segments = (
            Segment(tokens=np.array([1]), writer="task", text=question),
            Segment(tokens=np.array([2]), writer="policy", text=f"{text}?", logp=np.array([-0.1])),
            Segment(tokens=np.array([3]), writer="environment", text="seen"),
            Segment(tokens=np.array([4]), writer="policy", text=text, logp=np.array([-0.1])),
        )
        verdicts = {} if reward is None else {"rule": Verdict.score(reward), "style": Verdict.score(1 - reward)}
        finish = Finish(reason="failed" if reward is None else "length" if number in cut_off else "eos")
        scored.append(Scored(task=task, member=number, segments=segments, finish=finish, verdicts=verdicts, reward=reward))
    return Group(id=name, task=task, members=tuple(scored))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder as the tracker writes it, of two steps."""
    tracker = RolloutsJsonl()
    folder = tmp_path / "run"
    tracker.start(RunInfo(title="r", folder=folder, steps=2, first_step=0, frozen_recipe={}))
    steps = [
        [
            group("0/0", TRAIN, ("5", 0.0), ("7", 1.0), ("6", 0.5), ("7", 1.0)),
            group("0/1", TEST, ("1", 0.0), ("2", 1.0)),
            group("0/2", TRAIN, ("7", 1.0), ("7", 1.0)),
        ],
        [group("1/0", TRAIN, ("8", 0.0), ("x", None), ("7", 1.0), ("9", 1.0), cut_off=(3,))],
    ]
    for number, groups in enumerate(steps, start=1):
        tracker.step(StepReport(kind="step", step=number, metrics={}, groups=groups))
    tracker.step(StepReport(kind="evaluation", step=2, metrics={}, groups=[group("9/9", TRAIN, ("0", 0.0), ("1", 1.0))]))
    (folder / "checkpoints" / "step-000002").mkdir(parents=True)
    return folder


def brief(tasks: list[Task]) -> list[Any]:
    return [(task.id, task.recorded) for task in tasks]


def said(text: str) -> tuple[str, str]:
    return (f"{text}?", text)


def test_pairs_are_best_against_worst(run: Path) -> None:
    """Groups without a difference give none; failed and cut-off attempts take no part; evaluations are never read; the prompt is whole."""
    tasks = SampledPairs(path=str(run)).tasks("train")
    assert brief(tasks) == [("rollouts/0/0/0", (said("7"), said("5"))), ("rollouts/1/0/0", (said("7"), said("8")))]
    assert [task.extra["scores"] for task in tasks] == [(1.0, 0.0), (1.0, 0.0)]
    assert tasks[0].prompt == (Message(role="system", content="Add."), Message(role="user", content=TRAIN))
    assert tasks[0].answers == ("7",)
    assert tasks[0].origin.endswith("step-000001.jsonl:2")
    assert brief(SampledPairs(path=str(run)).tasks("test")) == [("rollouts/0/1/0", (said("2"), said("1")))]


def test_any_character_may_stand_in_a_rollout(run: Path) -> None:
    """A line of the file ends at a line feed and nowhere else."""
    tracker = RolloutsJsonl()
    tracker.start(RunInfo(title="r", folder=run, steps=3, first_step=2, frozen_recipe={}))
    odd = "7\u2028\u2029\x85\x0b\x0c"
    tracker.step(StepReport(kind="step", step=3, metrics={}, groups=[group("2/0", TRAIN, ("5", 0.0), (odd, 1.0))]))
    assert said(odd) in [task.recorded[0] for task in SampledPairs(path=str(run)).tasks("train")]


def test_more_pairs_of_a_group(run: Path) -> None:
    """Second best against second worst, as long as they differ."""
    tasks = SampledPairs(path=str(run), pairs_per_group=5).tasks("train")
    assert [(task.id, task.extra["scores"]) for task in tasks] == [
        ("rollouts/0/0/0", (1.0, 0.0)),
        ("rollouts/0/0/1", (1.0, 0.5)),
        ("rollouts/1/0/0", (1.0, 0.0)),
    ]


def test_another_source_may_be_the_label(run: Path) -> None:
    """Then its verdict counts and not the reward; a source that never judged is an error with those that did."""
    tasks = SampledPairs(path=str(run), source="style").tasks("train")
    assert tasks[0].recorded == (said("5"), said("7"))
    with pytest.raises(
        DataError, match=r"step-000001.jsonl:1: data.source: no source 'rul' judged this rollout; there are rule, style"
    ):
        SampledPairs(path=str(run), source="rul").tasks("train")


def test_good_attempts_once(run: Path) -> None:
    """What was said twice to one question is one task; from a checkpoint of the run the same."""
    tasks = SampledBest(path=str(run / "checkpoints" / "step-000002")).tasks("train")
    assert brief(tasks) == [("rollouts/0/0/1", (said("7"),)), ("rollouts/0/0/2", (said("6"),))]
    assert brief(SampledBest(path=str(run), threshold=0.5).tasks("train")) == [("rollouts/0/0/1", (said("7"),))]


def test_verdicts_are_balanced_exercises(run: Path) -> None:
    """As many right as wrong; what a policy wrote is shown as it is, braces and all; cut-off attempts are judged too."""
    made = SampledVerdicts(path=str(run), template="Q: {question} A: {completion}")
    tasks = made.tasks("train")
    assert [task.recorded for task in tasks] == [(("Verdict: yes",),), (("Verdict: no",),)] * 2
    assert [task.prompt[0].content for task in tasks[:2]] == [f"Q: {TRAIN} A: 7?7", f"Q: {TRAIN} A: 5?5"]
    braces = evolve(made, template="{completion} {question}")
    assert braces.tasks("test")[0].prompt[0].content == f"2?2 {TEST}"
    told = evolve(made, template="{question} right: {answers}, said: {completion}").tasks("train")[0]
    assert told.prompt[0].content == f"{TRAIN} right: {told.answers[0]}, said: 7?7"
    with pytest.raises(ValueError, match=r"template: must hold \{completion\}"):
        SampledVerdicts(path=str(run), template="{question}")


def test_what_is_missing_is_told(run: Path, tmp_path: Path) -> None:
    """A folder that is no run; a run that never sampled what is asked for."""
    with pytest.raises(DataError, match="is no run folder and in none: found no folder 'rollouts'"):
        SampledBest(path=str(tmp_path / "nowhere")).tasks("train")
    with pytest.raises(DataError, match=r"hold no attempt with a label above 3.0 for the train split"):
        SampledBest(path=str(run), threshold=3.0).tasks("train")


def test_a_completion_that_spells_a_placeholder_is_text(run: Path) -> None:
    """The template is filled once: a completion that says {completion} or {question} is not filled again."""
    file = run / "rollouts" / "step-000001.jsonl"
    record = json.loads(file.read_text().splitlines()[0])
    record["segments"][-1]["text"] = "{question}{completion}"
    file.write_text(json.dumps(record) + "\n" + "\n".join(file.read_text().splitlines()[1:]) + "\n")
    made = SampledVerdicts(path=str(run), template="{completion}|{question}")
    shown = [task.prompt[0].content for task in made.tasks("train")]
    assert f"5?{{question}}{{completion}}|{TRAIN}" in shown
