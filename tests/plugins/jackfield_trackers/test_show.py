"""``jackfield show`` on what ``rollouts_jsonl`` writes."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from jackfield.cli import show
from jackfield.errors import UserError
from jackfield.report import RunInfo, StepReport
from jackfield.types import Group, Scored
from jackfield_trackers.rollouts_jsonl import RolloutsJsonl

MakeRun = Callable[..., RunInfo]
MakeReport = Callable[..., StepReport]
Show = Callable[..., str]


@pytest.fixture
def shown(
    run_info: MakeRun,
    step_report: MakeReport,
    group: Group[Scored],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Show:
    """What ``jackfield show RUN …`` prints for a run with steps 1, 2, 4 and an evaluation before them."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    tracker, run = RolloutsJsonl(), run_info()
    tracker.start(run)
    tracker.step(step_report(0, "evaluation", groups=(group,)))
    for step in (1, 2, 4):
        tracker.step(step_report(step, groups=(group,)))

    def call(*arguments: str, folder: Path = run.folder) -> str:
        parser = argparse.ArgumentParser()
        show.add_arguments(parser)
        assert show.run(parser.parse_args([str(folder), *arguments]), None) == 0
        return capsys.readouterr().out

    return call


def test_a_rollout_reads_without_colours(shown: Show) -> None:
    """Every line says who wrote it and whether it is learned from; rewards have reasons; advantages stand under their segment."""
    out = shown("--limit", "1")
    lines = out.splitlines()
    assert lines[0] == "── step-000004  t/1  member 0 ──"
    for line in (
        "question  Capital of France?",
        "answers   Paris",
        "labels    hops=1",
        "finish    answer  said Paris  turns 2  search_calls 1",
        "tokens    6: 2 task, 3 policy, 1 environment",
        "reward    1.000",
        "          exact_match 1.000  equals 'paris'  read 'Paris'  f1 0.5",
        "          format abstain  no format asked",
        "T . │ Capital?",
        "P x │ <search>x",
        "    └ advantage +0.250 on average, -0.250 to +0.750, log-prob -0.123 a token, 2 tokens",
        "E . │ 東京",
        "P x │ Paris",
        "    └ advantage +0.707, log-prob -1.000 a token, 1 token",
        "1 of 2 rollouts shown; --limit 0 shows all",
    ):
        assert line in lines


def test_what_was_written_cannot_steer_the_terminal(shown: Show) -> None:
    """Escape codes become visible symbols, markup is text."""
    out = shown()
    assert "E . │ [red]doc[/red]␛[2J" in out.splitlines()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", out)


def test_a_rollout_without_a_reward(shown: Show) -> None:
    """It says why, and that it was left out."""
    out = shown("--limit", "0")
    assert "reward    none: it takes no part in learning" in out
    assert "exact_match error  timed out" in out
    assert out.count("── step-000004") == 2


def test_no_reward_is_shown_where_none_is_named(
    run_info: MakeRun, step_report: MakeReport, group: Group[Scored], shown: Show
) -> None:
    """Supervised runs have no judge: a reward of 0 would look like a verdict."""
    unjudged = evolve(group, members=tuple(evolve(member, verdicts={}, reward=0.0) for member in group))
    tracker = RolloutsJsonl()
    tracker.start(run_info())
    tracker.step(step_report(1, groups=(unjudged,)))
    assert not re.search(r"^reward ", shown(), re.MULTILINE)


def test_which_rollouts(shown: Show) -> None:
    """The last step by default, else the step or evaluation asked for; right and wrong by the first reward source."""
    assert "── step-000002" in shown("--step", "2")
    assert "── evaluation-000000" in shown("--evaluation", "0")
    right = shown("--right")
    assert "member 0" in right
    assert "member 1" not in right
    assert shown("--task", "t/1") == shown()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--step", "3"], r"--step 3: no rollouts of it; there are 1-2, 4$"),
        (["--evaluation", "9"], r"--evaluation 9: no rollouts of it; there are 0$"),
        (["--task", "nope"], r"no rollout here is of task 'nope'$"),
        (["--wrong"], r"no rollout here is wrong$"),  # one is right and the other was not judged
    ],
)
def test_nothing_to_show(shown: Show, arguments: list[str], message: str) -> None:
    """The message says what there is."""
    with pytest.raises(UserError, match=message):
        shown(*arguments)


def test_a_folder_that_is_no_run(shown: Show, tmp_path: Path) -> None:
    """The message says what was expected."""
    with pytest.raises(UserError, match="has no rollouts; give the folder of a run"):
        shown(folder=tmp_path / "rollouts")
    with pytest.raises(UserError, match="is no folder"):
        shown(folder=tmp_path / "nowhere")


def test_long_lines_keep_their_margin() -> None:
    """Where lines are wrapped to a terminal, no letter is lost and every piece has the margin."""
    segment = {"writer": "policy", "text": "word " * 20 + "\n\n" + "x" * 50}
    pieces = list(show._margined(segment, 40))
    assert all(piece.startswith("P x │ ") and len(piece) <= 40 for piece in pieces)
    assert "".join(piece[6:] for piece in pieces) == segment["text"].replace("\n", "")


def test_no_torch() -> None:
    """Reading rollouts is quick: torch is not imported."""
    code = "import sys, jackfield.cli.show, rich.console; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
