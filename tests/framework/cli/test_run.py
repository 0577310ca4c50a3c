"""``jackfield run``: what the user reads, from the first line to how to go on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from jackfield import checkpoint
from jackfield.cli import main as cli
from jackfield.errors import StopRun

COMMON = """
steps = 2
tasks_per_step = 2
group_size = 2
data = "smoke"
rollout = {use = "single_turn", max_new_tokens = 8}
rewards = ["smoke"]
advantage = "group_norm"
losses = ["ppo_clip"]
optimizer = {lr = 1e-3}
trackers = ["metrics_jsonl"]
evaluate = {enabled = false}
"""
FIRST = f"""
title = "first"
{COMMON}
model = "tiny_random"
"""
SECOND = f"""
title = "second"
{COMMON}
model = {{use = "hf_causal", from = "first.toml"}}
"""

Captured = pytest.CaptureFixture[str]
Stop = Callable[[str, int, BaseException], None]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    Path("first.toml").write_text(FIRST)
    Path("second.toml").write_text(SECOND)


@pytest.fixture
def stop(monkeypatch: pytest.MonkeyPatch) -> Stop:
    """``stop("first", 1, error)`` raises the error when the run of that title has done that step."""
    from jackfield_trackers.metrics_jsonl import MetricsJsonl

    started, written = MetricsJsonl.start, MetricsJsonl.step
    running: list[str] = []

    def start(self: Any, run: Any) -> None:
        running.append(run.title)
        started(self, run)

    def at(title: str, step: int, error: BaseException) -> None:
        def report(self: Any, found: Any) -> None:
            written(self, found)
            if (running[-1], found.step) == (title, step):
                raise error

        monkeypatch.setattr(MetricsJsonl, "start", start)
        monkeypatch.setattr(MetricsJsonl, "step", report)

    return at


def told(capsys: Captured, *words: str) -> list[str]:
    """What a stopped run says at its end."""
    assert cli.main(["run", *words]) == 130
    return capsys.readouterr().out.splitlines()


def test_a_stopped_run_says_how_to_go_on(stop: Stop, capsys: Captured) -> None:
    """The whole command, as it was given, with --resume; and it does go on."""
    stop("first", 1, StopRun("enough"))
    words = ["first.toml", "--set", "sampling.temperature=0.9", "--out", "my runs/a"]
    assert told(capsys, *words)[-3:] == [
        "enough: 1 of 2 steps done, checkpoint my runs/a/checkpoints/step-000001",
        "go on        jackfield run first.toml --set sampling.temperature=0.9 --out 'my runs/a' --resume",
        "look inside  jackfield show my runs/a",
    ]
    assert cli.main(["run", *words, "--resume"]) == 0
    assert checkpoint.chosen(Path("my runs/a"), None).name == "step-000002"


def test_a_second_ctrl_c_says_how_to_go_on_too(stop: Stop, capsys: Captured) -> None:
    """If there is something to go on from."""
    stop("first", 1, KeyboardInterrupt())
    assert told(capsys, "first.toml", "--out", "a")[-2:] == [
        "go on        jackfield run first.toml --out a --resume",
        "look inside  jackfield show a",
    ]


def test_a_run_stopped_after_its_last_step_has_nothing_to_go_on_with(stop: Stop, capsys: Captured) -> None:
    """Only its last evaluation is missing."""
    stop("first", 2, StopRun("enough"))
    *_, stopped, look = told(capsys, "first.toml", "--out", "a")
    assert stopped.endswith("but not the last evaluation; jackfield eval a makes one")
    assert look == "look inside  jackfield show a"


def test_a_recipe_stopped_on_the_way_goes_on_without_resume(stop: Stop, capsys: Captured) -> None:
    """The run of the recipe it starts from is found again; its own has not begun, so --resume would be refused."""
    stop("first", 1, StopRun("enough"))
    assert told(capsys, "second.toml", "--out", "b")[-1] == "go on        jackfield run second.toml --out b"
    assert cli.main(["run", "second.toml", "--out", "b"]) == 0


def test_the_first_line_comes_before_torch() -> None:
    """Nobody looks at an empty screen while it is imported."""
    code = (
        "import sys; from jackfield.cli import main, run; run.say = lambda text: sys.exit(f\"{text} {'torch' in sys.modules}\"); "
        "main.main(['run', 'first.toml'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == "loading first False\n"
