"""``jackfield check``: what it prints, and that it loads nothing heavy."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from jackfield.cli import check
from jackfield.cli.main import main
from jackfield.errors import RecipeError
from jackfield.plugins import Plugins

ROOT = Path(__file__).parents[3]
RECIPES = sorted(str(path) for path in (ROOT / "recipes").glob("*.toml") if "cells" not in tomllib.loads(path.read_text()))

RECIPE = """\
title = "PPO on rows"
steps = 200
tasks_per_step = 16
group_size = 4
seed = 3

[model]
use = "hf"
from = "sft.toml"

[data]
use = "rows"
file = "rows.jsonl"

[rollout]
use = "searching"

[[tools]]
use = "search"
corpus = {use = "passages", size = 5}
top_k = 2

[[rewards]]
use = "exact"
scale = 2

[[penalties]]
use = "kl"

[critic]
use = "head"

[advantage]
use = "gae"

[[losses]]
use = "clip"

[[losses]]
use = "value"
weight = 0.5

[learn]
epochs = 2
minibatches = 5

[evaluate]
every = 50
tasks = 100
"""

SFT = """\
title = "warm start"
steps = 1
tasks_per_step = 1
model = {use = "hf", path = "start"}
data = "rows"
rollout = "chat"
advantage = "constant"
losses = ["clip"]
trackers = []
evaluate = {enabled = false}
"""


@pytest.fixture
def plugins() -> Plugins:
    fakes = Plugins()
    fakes.add_file(ROOT / "tests/framework/recipe/fakes.py")
    assert not fakes.failures
    return fakes


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.toml").write_text(RECIPE, encoding="utf-8")
    Path("sft.toml").write_text(SFT, encoding="utf-8")


def checked(plugins: Plugins, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    parser = argparse.ArgumentParser()
    check.add_arguments(parser)
    assert check.run(parser.parse_args(arguments), plugins) == 0
    return capsys.readouterr().out


def section(output: str, heading: str) -> list[str]:
    """The lines below a heading, their columns one space apart."""
    below = output.split(f"\n\n{heading}\n", 1)[1].split("\n\n", 1)[0]
    return [" ".join(line.split()) for line in below.splitlines()]


def test_the_corridor_is_shown_stage_by_stage(plugins: Plugins, capsys: pytest.CaptureFixture[str]) -> None:
    """The component, its plugin, and the keys that are not left at their default; parts of parts too."""
    output = checked(plugins, capsys, "r.toml", "--set", "losses.0.clip_low=0.1")
    assert output.startswith("PPO on rows  (r.toml)\n")
    assert section(output, "corridor") == [
        'data fakes:rows file = "rows.jsonl"',
        'model fakes:hf from = "sft.toml"',
        "rollout fakes:searching",
        "engine fakes:torch",
        'tools fakes:search corpus = "fakes:passages", corpus.size = 5, top_k = 2',
        "rewards fakes:exact scale = 2.0",
        "penalties fakes:kl",
        "critic fakes:head",
        "advantage fakes:gae",
        "losses fakes:clip clip_low = 0.1",
        "losses fakes:value weight = 0.5",
        "optimizer fakes:adamw",
        "trackers fakes:console",
        "trackers fakes:metrics_jsonl",
        "trackers fakes:rollouts_jsonl",
    ]
    assert section(output, "settings") == ["learn epochs = 2, minibatches = 5", "evaluate every = 50, tasks = 100", "seed 3"]


def test_a_list_that_takes_the_place_of_an_inherited_one_is_shown(plugins: Plugins, capsys: pytest.CaptureFixture[str]) -> None:
    """With both places: whoever adds a reward to those of another recipe must repeat them. Tables are inherited."""
    Path("bases").mkdir()
    Path("bases/mid.toml").write_text(
        'extends = "../r.toml"\nfilters = []\n[[rewards]]\nuse = "exact"\n\n[[rewards]]\nuse = "far"\n'
    )
    child = 'extends = "bases/mid.toml"\nrewards = ["format"]\ntrackers = []\nfilters = []\n'
    losses = '[[losses]]\nuse = "value"\n[advantage]\nuse = "gae"\n'
    Path("child.toml").write_text(child + losses)
    assert section(checked(plugins, capsys, "child.toml"), "lists not inherited") == [
        'rewards child.toml:2 ("format") takes the place of bases/mid.toml:3 ("exact", "far")',
        'losses child.toml:5 ("value") takes the place of r.toml:36 ("clip", "value")',
    ]
    told = section(checked(plugins, capsys, "child.toml", "--set", 'losses=["value"]'), "lists not inherited")
    assert [line.split()[0] for line in told] == ["rewards"]
    Path("child.toml").write_text(
        'extends = "bases/mid.toml"\nrewards = []\nadvantage = "constant"\nlosses = ["clip"]\ncritic = false\n'
    )
    assert section(checked(plugins, capsys, "child.toml"), "lists not inherited")[0] == (
        'rewards child.toml:2 (none) takes the place of bases/mid.toml:3 ("exact", "far")'
    )


def test_what_replaces_nothing_is_not_shown(plugins: Plugins, capsys: pytest.CaptureFixture[str]) -> None:
    """A list of its own, and those that every recipe begins with."""
    Path("child.toml").write_text('extends = "r.toml"\ntitle = "mine"\ntrackers = ["console"]\nfilters = []\n')
    assert "lists not inherited" not in checked(plugins, capsys, "child.toml")


def test_what_is_held_in_memory_is_shown_with_the_reason(plugins: Plugins, capsys: pytest.CaptureFixture[str]) -> None:
    """A reference because of the KL, a critic because of the advantage and its loss."""
    assert section(checked(plugins, capsys, "r.toml"), "in memory") == [
        "policy with optimizer state",
        "reference because penalties.kl needs ref_logp",
        "critic with optimizer state, because advantage and losses.value need value",
        "engine a copy of the policy",
    ]
    judged = checked(plugins, capsys, "r.toml", "--set", 'rewards=["exact", "far"]')
    assert section(judged, "in memory")[3:] == ["engine a copy of the policy", "rewards.far a model of its own"]
    assert section(checked(plugins, capsys, "sft.toml"), "in memory") == [
        "policy with optimizer state",
        "engine a copy of the policy",
    ]


def test_the_passes_are_those_that_somebody_needs(plugins: Plugins, capsys: pytest.CaptureFixture[str]) -> None:
    """And old log-probs are no pass of their own where a step has one update."""
    assert section(checked(plugins, capsys, "r.toml"), "passes before learning") == [
        "old_logp the policy's log-probs before the step's first update: losses.clip needs it",
        "ref_logp the reference's log-probs: penalties.kl needs it",
        "value the critic's values: advantage and losses.value need it",
    ]
    single = checked(plugins, capsys, "r.toml", "--set", "learn.epochs=1", "--set", "learn.minibatches=1")
    assert section(single, "passes before learning")[0] == (
        "old_logp not computed: with one update a step, the learn pass has it already"
    )


def test_the_batch_arithmetic_is_shown(plugins: Plugins, capsys: pytest.CaptureFixture[str]) -> None:
    """Per step, per update and in all; uneven minibatches are no whole number."""
    assert section(checked(plugins, capsys, "r.toml"), "batch") == [
        "16 tasks × 4 rollouts each = 64 rollouts a step",
        "2 epochs × 5 minibatches = 10 updates a step, each of about 12.8 rollouts",
        "200 steps: 12 800 rollouts, 2 000 updates",
    ]
    assert section(checked(plugins, capsys, "sft.toml"), "batch") == [
        "1 task × 1 rollout each = 1 rollout a step",
        "1 epoch × 1 minibatch = 1 update a step, each of 1 rollout",
        "1 step: 1 rollout, 1 update",
    ]


def test_evaluation_and_the_recipe_before_are_shown(plugins: Plugins, capsys: pytest.CaptureFixture[str]) -> None:
    """When, on how many tasks, and what runs first."""
    output = checked(plugins, capsys, "r.toml")
    assert section(output, "evaluation") == [
        "greedy, on the test split: before the first step, every 50 steps, after the last; 100 tasks within the run"
    ]
    assert section(output, "weights") == [
        "model from the final checkpoint of sft.toml (warm start); run first if its result is missing"
    ]
    alone = checked(plugins, capsys, "sft.toml")
    assert section(alone, "evaluation") == ["none"]
    assert "\nweights\n" not in alone


def test_what_two_parts_start_from_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    """With what it starts from itself, indented."""
    assert main(["check", "rlhf_ppo"]) == 0
    [both, data] = capsys.readouterr().out.partition("\nweights\n")[2].splitlines()
    assert both.startswith("  rewards.0 and critic from the final checkpoint of ")
    assert "rlhf_reward_model.toml" in both
    assert data.startswith("    data from the final checkpoint of ")
    assert "grpo_sums.toml" in data


def test_an_unsound_recipe_is_refused(plugins: Plugins, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line prints the problems; nothing else is printed."""
    with pytest.raises(RecipeError, match=r"learn.epochs: must be at least 1, found 0"):
        checked(plugins, capsys, "r.toml", "--set", "learn.epochs=0")
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------------------------------------- with the built-in plugins

SCRIPT = """
import json, sys, time
from jackfield.cli.main import main
codes = [main(["check", recipe]) for recipe in sys.argv[1:]]
heavy = sorted({"torch", "transformers", "faiss", "bm25s", "httpx"} & sys.modules.keys())
print(json.dumps({"codes": codes, "heavy": heavy, "seconds": time.process_time()}))
"""


def _check_in_a_process(tmp_path: Path, recipes: list[str]) -> dict[str, object]:
    """With the entry points of pyproject.toml, installed or not."""
    entry_points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["jackfield.plugins"]
    info = tmp_path / "jackfield-0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: jackfield\nVersion: 0.0\n")
    (info / "entry_points.txt").write_text(
        "[jackfield.plugins]\n" + "\n".join(f"{name} = {to}" for name, to in entry_points.items())
    )
    paths = [str(tmp_path), str(ROOT / "framework"), str(ROOT / "plugins")]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *recipes],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(told, dict)
    return told


def test_every_recipe_that_comes_along_is_sound_and_checked_without_heavy_imports(tmp_path: Path) -> None:
    """No torch, no model, no index: only attrs classes."""
    told = _check_in_a_process(tmp_path, RECIPES)
    assert told["codes"] == [0] * len(RECIPES)
    assert told["heavy"] == []


def test_the_main_recipe_is_checked_in_under_a_second(tmp_path: Path) -> None:
    """Of processor time, from the start of the interpreter."""
    told = _check_in_a_process(tmp_path, ["search_r1_small"])
    assert told["codes"] == [0]
    assert isinstance(told["seconds"], float)
    assert told["seconds"] < 1.0
