"""A run in the terminal and in a pipe."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from attrs import evolve

from jackfield.errors import Interrupted
from jackfield.report import RunInfo, StepReport
from jackfield_trackers import wording
from jackfield_trackers.console import Console

MakeRun = Callable[..., RunInfo]
MakeReport = Callable[..., StepReport]

EVALUATION = {
    "evaluation__exact_match": 0.5,
    "evaluation__format": 0.9,
    "evaluation__rollouts": 64.0,
    "evaluation__reward__mean": 0.52,
    "evaluation__rollout__turns": 1.9,
    "evaluation__hops=1__exact_match": 0.6,
    "evaluation__hops=1__rollouts": 32.0,
    "evaluation__hops=2__exact_match": 0.4,
    "evaluation__hops=2__rollouts": 32.0,
}


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the environment decides about colours."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def track(run: RunInfo, make: MakeReport) -> None:
    """A short run: evaluation, two steps, evaluation."""
    tracker = Console()
    tracker.start(run)
    tracker.progress("evaluate", 1, 2)
    tracker.step(make(0, "evaluation", **EVALUATION))
    for step, reward in ((1, 0.75), (2, 0.25)):
        for phase in ("generate", "score", "measure", "learn"):
            tracker.progress(phase, 1, 1)
        tracker.step(make(step, reward__mean=reward, reward__exact_match=reward, grad_norm__policy=1.25, kl__reference=0.0125))
    tracker.step(make(2, "evaluation", **{**EVALUATION, "evaluation__exact_match": 0.625}))
    tracker.end(None)


def test_plain_output(run_info: MakeRun, step_report: MakeReport, capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe: one line a step, tables as text, no control characters, nothing cut."""
    track(run_info(), step_report)
    out = capsys.readouterr().out
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", out)
    lines = [line.rstrip() for line in out.splitlines()]
    assert "step  1/20  reward 0.750  em 0.750  kl 0.0125  grad 1.25  2.5 s" in lines
    assert "evaluation after step 2  reward 0.520  turns 1.900  2.5 s" in lines
    assert next(line.split() for line in lines if line.startswith("hops=1")) == ["hops=1", "0.600", "32"]
    assert ["evaluation/exact_match", "0.500", "0.625", "0.625", "2"] in [line.split() for line in lines]
    assert ["reward/mean", "0.750", "0.250", "0.750", "1"] in [line.split() for line in lines]
    assert ["grad_norm/policy", "1.250", "1.250"] in [line.split() for line in lines]
    assert lines[-1] == "done after 10 s"


def test_terminal_output(run_info: MakeRun, step_report: MakeReport, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal there are bars for the steps and the phase under way, the same lines, and the cursor comes back."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    track(run_info(), step_report)
    out = terminal.getvalue()
    assert "\x1b[" in out
    assert "steps" in out
    assert "generate" in out
    assert "step  2/20  reward 0.250" in out
    assert out.rindex("\x1b[?25h") > out.rindex("\x1b[?25l")


def test_nothing_is_put_up_before_there_is_progress(run_info: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """If another tracker fails to start, this one is never told the end, and must leave the terminal as it was."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    Console().start(run_info())
    assert "\x1b[?25l" not in terminal.getvalue()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError("full"), "ended by OSError after 0 s; look at it with: jackfield show {folder}"),
        (Interrupted("enough"), "stopped after 0 s"),
        (KeyboardInterrupt(), "stopped after 0 s"),
    ],
)
def test_what_ended_the_run_is_told(run_info: MakeRun, capsys: pytest.CaptureFixture[str], error: BaseException, told: str) -> None:
    """A run without a single report ends too. Where the user stopped it, the command says the rest."""
    tracker = Console()
    tracker.start(run_info(first_step=7))
    tracker.end(error)
    first, last = capsys.readouterr().out.splitlines()
    assert "20 steps, from step 7" in first
    assert last == told.format(folder=run_info().folder)


def test_one_step_is_one_step(run_info: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    """Singular."""
    Console().start(evolve(run_info(), steps=1))
    assert capsys.readouterr().out.startswith("Sums: 1 step, in ")


@pytest.mark.parametrize(("seconds", "told"), [(0.2, "0 s"), (59.4, "59 s"), (60, "1.0 min"), (168, "2.8 min")])
def test_durations(seconds: float, told: str) -> None:
    """Seconds below a minute."""
    assert wording.duration(seconds) == told


def test_supervised_steps_show_their_losses(step_report: MakeReport) -> None:
    """Where there is no reward the losses stand in its place; nothing that is not there is shown."""
    assert wording.step_line(step_report(3, losses__cross_entropy=1.5), 20) == "step  3/20  cross_entropy 1.500  2.5 s"
    assert wording.step_line(step_report(3, reward__mean=1.0, losses__ppo_clip=0.1), 9) == "step 3/9  reward 1.000  2.5 s"


def test_evaluation_table_by_label(step_report: MakeReport) -> None:
    """A row for all and for each label, exact match first, the number of rollouts last; what is missing stays empty."""
    table = wording.evaluation_table(step_report(0, "evaluation", **EVALUATION).metrics)
    assert table == [
        ["", "exact_match", "format", "rollouts"],
        ["all", "0.500", "0.900", "64"],
        ["hops=1", "0.600", "", "32"],
        ["hops=2", "0.400", "", "32"],
    ]
    assert wording.evaluation_table({"evaluation/reward/mean": 1.0}) == []


def test_labels_of_many_values_do_not_bury_the_rest(step_report: MakeReport) -> None:
    """A label with more than eight values is left out of the table and the summary; others stay."""
    many = {f"evaluation__relation=r{i}__exact_match": 0.5 for i in range(9)}
    report = step_report(0, "evaluation", **EVALUATION, **many)
    assert [row[0] for row in wording.evaluation_table(report.metrics)] == ["", "all", "hops=1", "hops=2"]
    assert not [row for row in wording.summary_table([report]) if "relation" in row[0]]
    del many["evaluation__relation=r8__exact_match"]
    assert len(wording.evaluation_table(step_report(0, "evaluation", **many).metrics)) == 9


def test_summary_of_any_subset(step_report: MakeReport) -> None:
    """First, last and best; no best for what is not a reward; nothing for nothing."""
    reports = [step_report(1, reward__mean=0.5, policy__entropy=2.0), step_report(2, reward__mean=0.25, policy__entropy=3.0)]
    assert wording.summary_table(reports)[1:] == [
        ["reward/mean", "0.500", "0.250", "0.500", "1"],
        ["policy/entropy", "2.000", "3.000", "", ""],
    ]
    assert wording.summary_table([]) == []


def test_a_resumed_runs_summary_says_since_when(step_report: MakeReport) -> None:
    """It has seen nothing before."""
    table = wording.summary_table([step_report(8, reward__mean=0.5)], first_step=7)
    assert table[0] == ["since step 7", "first", "last", "best", "at step"]


def test_recorded_attempts_are_told_by_their_losses(step_report: MakeReport) -> None:
    """What was recorded earns the same whatever is learnt: no rewards, and no best of what should fall."""
    step = step_report(1, reward__mean=0.5, losses__dpo=0.75, dpo__accuracy=0.5)
    evaluation = step_report(
        1, "evaluation", evaluation__reward__mean=0.5, evaluation__losses__dpo=0.5, evaluation__dpo__accuracy=1.0
    )
    assert wording.step_line(step, 9, samples=False) == "step 1/9  dpo 0.750  pairs right 0.500  2.5 s"
    assert wording.evaluation_title(evaluation, samples=False) == "evaluation after step 1  dpo 0.500  pairs right 1.000  2.5 s"
    assert wording.summary_table([step, evaluation], samples=False)[1:] == [
        ["losses/dpo", "0.750", "0.750", "", ""],
        ["dpo/accuracy", "0.500", "0.500", "", ""],
        ["evaluation/losses/dpo", "0.500", "0.500", "", ""],
        ["evaluation/dpo/accuracy", "1.000", "1.000", "", ""],
    ]
