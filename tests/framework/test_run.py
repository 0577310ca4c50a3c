"""A run can be stopped anywhere between two steps and go on as if nothing had happened."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from jackfield import chain, checkpoint, hookimpl
from jackfield.errors import Interrupted, StopRun, UserError
from jackfield.plugins import Plugins, load_plugins
from jackfield.recipe import load_recipe
from jackfield.run import run

RECIPE = """
title = "tiny"
seed = 3
steps = 4
tasks_per_step = 3
group_size = 2

[model]
use = "tiny_random"
compute = "float32"

[data]
use = "smoke"

[rollout]
use = "tagged_tools"
template = "{question}"
max_turns = 1
max_new_tokens_per_turn = 8

[[tools]]
use = "search"
corpus = "smoke"
top_k = 1

[[rewards]]
use = "format"

[[penalties]]
use = "kl"
coefficient = 0.1

[critic]
use = "value_head"
backbone = "own"

[advantage]
use = "gae"

[[losses]]
use = "ppo_clip"

[[losses]]
use = "value_clip"

[[losses]]
use = "entropy"
weight = 0.01

[learn]
epochs = 2
minibatches = 2

[optimizer]
use = "adamw"
lr = 1e-3
schedule = "linear"

[[trackers]]
use = "metrics_jsonl"

[[trackers]]
use = "rollouts_jsonl"
"""


class Watching:
    """Stops the run after a step, and remembers what it was told."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after = stop_after
        self.told: list[str] = []

    @hookimpl
    def jackfield_run_start(self, run: Any) -> None:
        self.told.append("start")

    @hookimpl
    def jackfield_step_end(self, run: Any, report: Any) -> None:
        self.told.append(f"{report.kind} {report.step}")
        if report.kind == "step" and report.step == self.stop_after:
            raise StopRun("far enough")

    @hookimpl
    def jackfield_run_end(self, run: Any, error: Any) -> None:
        self.told.append(f"end {type(error).__name__}")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def plugins_with(watching: Watching | None = None) -> Plugins:
    plugins = load_plugins(environ={})
    if watching is not None:
        plugins.manager.register(watching)
    return plugins


def start(folder: Path, *overrides: str, resume: bool = False, watching: Watching | None = None) -> Path:
    folder.parent.mkdir(exist_ok=True, parents=True)
    path = folder.parent / "tiny.toml"
    path.write_text(RECIPE)
    plugins = plugins_with(watching)
    return run(load_recipe(path, plugins, overrides), plugins, folder, resume=resume)


def metrics(folder: Path) -> list[Any]:
    """All that was reported but for times."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    timed = re.compile(r"speed/|share/|memory/")
    return [(d["kind"], d["step"], {k: v for k, v in d["metrics"].items() if not timed.search(k)}) for d in lines]


def test_resuming_equals_not_stopping_bit_for_bit(tmp_path: Path) -> None:
    """Weights, critic, optimizer state, metrics and rollouts of a stopped and resumed run are those of one that ran through."""
    through = start(tmp_path / "through")
    with pytest.raises(Interrupted, match=r"far enough: 2 of 4 steps done"):
        start(tmp_path / "stopped", watching=Watching(stop_after=2))
    resumed = start(tmp_path / "stopped", resume=True)
    for name in ("model/model.safetensors", "state.json"):
        assert (through / name).read_bytes() == (resumed / name).read_bytes()
    for file in (through / "critic").iterdir():
        assert file.read_bytes() == (resumed / "critic" / file.name).read_bytes()
    one, two = (torch.load(f / "optimizer.pt", weights_only=True)["state"] for f in (through, resumed))
    assert all(torch.equal(one[i][k], two[i][k]) for i in one for k in one[i])
    assert metrics(tmp_path / "through") == metrics(tmp_path / "stopped")
    for file in (tmp_path / "through" / "rollouts").iterdir():
        assert file.read_bytes() == (tmp_path / "stopped" / "rollouts" / file.name).read_bytes()


def test_same_seed_same_run_and_another_seed_another(tmp_path: Path) -> None:
    """Bit for bit on CPU, whatever the micro-batching of the sampler; a different seed differs."""
    first, second, other = (
        start(tmp_path / "first"),
        start(tmp_path / "second"),
        start(tmp_path / "other", "seed=4"),
    )
    weights = [(f / "model/model.safetensors").read_bytes() for f in (first, second, other)]
    assert weights[0] == weights[1] != weights[2]
    assert metrics(tmp_path / "first") == metrics(tmp_path / "second") != metrics(tmp_path / "other")


def test_reports_are_complete_and_sound(tmp_path: Path) -> None:
    """The ratio before the first update is 1, the policy moves, observers hear everything in order."""
    watching = Watching()
    start(tmp_path / "run", watching=watching)
    steps = [m for kind, _, m in metrics(tmp_path / "run") if kind == "step"]
    for found in steps:
        assert found["policy/first_update_ratio"] == pytest.approx(1.0, abs=1e-6)
        assert found["policy/sampler_gap"] < 1e-4
        assert found["policy/entropy"] > 0
        assert found["grad_norm/policy"] > 0
    assert steps[0]["kl/reference"] == pytest.approx(0, abs=1e-6)
    assert steps[-1]["kl/reference"] > 1e-6
    assert {"reward/mean", "reward/format", "rollout/truncated", "rollout/turns", "rollout/search_calls"} <= steps[0].keys()
    assert {"groups/informative", "verdicts/abstain", "verdicts/error", "ppo_clip/clip_fraction"} <= steps[0].keys()
    assert watching.told == ["start", "evaluation 0", "step 1", "step 2", "step 3", "step 4", "evaluation 4", "end NoneType"]


def test_a_checkpoint_loads_with_transformers(tmp_path: Path) -> None:
    """K4: the folder holds weights and tokenizer, and is the policy."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    final = start(tmp_path / "run", "steps=1", "evaluate.enabled=false")
    model = AutoModelForCausalLM.from_pretrained(final / "model")
    tokenizer = AutoTokenizer.from_pretrained(final / "model")
    ids = tokenizer("Paris", return_tensors="pt").input_ids
    assert torch.isfinite(model(ids).logits).all()


def test_runs_are_not_mixed_up(tmp_path: Path) -> None:
    """K1: a folder with a run needs --resume; a run that is done has nothing to resume and says so at once, with or without it."""
    with pytest.raises(Interrupted):
        start(tmp_path / "stopped", "steps=2", "evaluate.enabled=false", watching=Watching(stop_after=1))
    with pytest.raises(UserError, match="holds this run, 1 of 2 steps done; add --resume to go on, or choose another folder"):
        start(tmp_path / "stopped", "steps=2")
    start(tmp_path / "run", "steps=1", "evaluate.enabled=false")
    with pytest.raises(UserError, match=r"this run is done, with 1 step; for more: .*; to run it again, choose another folder"):
        start(tmp_path / "run", "steps=1")
    with pytest.raises(UserError, match=r"this run is done, with 1 step; for more: --resume --out .*run --set steps=2; "):
        start(tmp_path / "run", "steps=1", resume=True)
    final = start(tmp_path / "run", "steps=2", "evaluate.enabled=false", resume=True)
    assert checkpoint.read_state(final).step == 2


def test_a_token_budget_ends_the_run_with_the_step_that_reaches_it(tmp_path: Path) -> None:
    """Counted over what the policy sampled; a stopped run ends where one that ran through does, and only a larger budget goes on."""
    start(tmp_path / "free", "evaluate.enabled=false")
    sampled = [m["generate/tokens"] for _, _, m in metrics(tmp_path / "free")]
    rollouts = [json.loads(line) for line in (tmp_path / "free/rollouts/step-000001.jsonl").read_text().splitlines()]
    assert sampled[0] == sum(len(s["tokens"]) for r in rollouts for s in r["segments"] if s["writer"] == "policy")

    budget = f"token_budget={int(sum(sampled[:2])) + 1}"
    through = start(tmp_path / "through", budget, "evaluate.enabled=false")
    with pytest.raises(Interrupted, match="2 of 4 steps done"):
        start(tmp_path / "stopped", budget, "evaluate.enabled=false", watching=Watching(stop_after=2))
    resumed = start(tmp_path / "stopped", budget, "evaluate.enabled=false", resume=True)
    assert through.name == resumed.name == "step-000003"
    assert checkpoint.read_state(resumed).sampled == sum(sampled[:3])

    recipe = load_recipe(tmp_path / "tiny.toml", plugins_with(), [budget])
    assert chain.finished(recipe, tmp_path / "through") == through
    with pytest.raises(UserError, match=r"this run is done, its token budget is spent; .*--set token_budget="):
        start(tmp_path / "through", budget, resume=True)
    more = start(tmp_path / "through", "token_budget=0", "evaluate.enabled=false", resume=True)
    assert checkpoint.read_state(more).step == 4


def test_old_checkpoints_go_and_half_written_ones_do_not_count(tmp_path: Path) -> None:
    """The newest are kept; a folder that was being written when the machine died is not one."""
    start(tmp_path / "run", "steps=3", "checkpoint.every=1", "checkpoint.keep=2", "evaluate.enabled=false")
    assert [f.name for f in checkpoint.saved(tmp_path / "run")] == ["step-000002", "step-000003"]
    (tmp_path / "run" / "checkpoints" / ".step-000009").mkdir()
    assert checkpoint.chosen(tmp_path / "run", None).name == "step-000003"
    with pytest.raises(UserError, match="no checkpoint after 1 step; there are: 2, 3"):
        checkpoint.chosen(tmp_path / "run", 1)


def test_a_frozen_recipe_stands_in_the_run_folder(tmp_path: Path) -> None:
    """It loads again to the same recipe."""
    start(tmp_path / "run", "steps=1", "evaluate.enabled=false")
    plugins = plugins_with()
    frozen = load_recipe(tmp_path / "run" / "recipe.toml", plugins)
    assert frozen.digest == load_recipe(tmp_path / "tiny.toml", plugins, ["steps=1"]).digest


def test_ctrl_c_ends_after_the_step_with_a_checkpoint(tmp_path: Path) -> None:
    """Exit code 130, a message with what to do, a checkpoint to go on from, no traceback."""
    (tmp_path / "tiny.toml").write_text(RECIPE)
    command = [sys.executable, "-m", "jackfield", "run", "tiny.toml", "--out", "run", "--set", "steps=10000"]
    command += ["--set", "evaluate.enabled=false"]
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    try:
        deadline = time.monotonic() + 60
        log = tmp_path / "run" / "metrics.jsonl"
        while not (log.is_file() and log.read_text().count("\n") >= 1) and running.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130, err
    assert "stopping after this step" in err
    again = "jackfield run tiny.toml --out run --set steps=10000 --set evaluate.enabled=false --resume"
    assert out.splitlines()[-2:] == [f"go on        {again}", "look inside  jackfield show run"]
    assert "Traceback" not in err
    (saved,) = checkpoint.saved(tmp_path / "run")
    assert checkpoint.read_state(saved).step >= 1


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_split_without_tasks_is_the_users_mistake(tmp_path: Path, split: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found before any model loads."""
    from jackfield_smoke.facts import SmokeTasks

    tasks = SmokeTasks.tasks
    monkeypatch.setattr(SmokeTasks, "tasks", lambda self, s: [] if s == split else tasks(self, s))
    with pytest.raises(UserError, match=f"{'training' if split == 'train' else 'test'} split"):
        start(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_resume_needs_something_to_resume_and_the_same_recipe(tmp_path: Path) -> None:
    """Nothing there, or a run made by other settings: said before anything is touched, with what differs."""
    with pytest.raises(UserError, match="nothing to resume, there is no checkpoint"):
        start(tmp_path / "run", resume=True)
    start(tmp_path / "run", "steps=1", "evaluate.enabled=false")
    frozen = (tmp_path / "run" / "recipe.toml").read_bytes()
    told = r"holds the run of another recipe \(optimizer\.lr: 0\.001 there, 0\.1 here\), .*; choose another folder with --out"
    for resume in (True, False):  # without it too: advice to add it would lead nowhere
        with pytest.raises(UserError, match=told):
            start(tmp_path / "run", "steps=2", "optimizer.lr=0.1", resume=resume)
    with pytest.raises(UserError, match=r"; learn\.fixed_length: nothing there, 8 here\), which"):
        start(tmp_path / "run", "learn.fixed_length=8", 'learn.aggregation="fixed_length"', resume=True)
    assert (tmp_path / "run" / "recipe.toml").read_bytes() == frozen


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    """The second is told, and the first is not disturbed."""
    from jackfield.run_folder import only_run_in

    with only_run_in(tmp_path / "run"), pytest.raises(UserError, match="another process is running there"):
        start(tmp_path / "run")


def test_what_is_done_is_kept_whatever_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash between two updates leaves a checkpoint of the last step, and resuming equals not stopping."""
    from jackfield_trackers.metrics_jsonl import MetricsJsonl

    report = MetricsJsonl.step

    def full_disk(self: Any, found: Any) -> None:
        if found.kind == "step" and found.step == 2:
            raise OSError("no space left on device")
        report(self, found)

    with monkeypatch.context() as patch:
        patch.setattr(MetricsJsonl, "step", full_disk)
        with pytest.raises(OSError, match="no space left"):
            start(tmp_path / "run", "evaluate.enabled=false")
    assert checkpoint.read_state(checkpoint.chosen(tmp_path / "run", None)).step == 2
    through = start(tmp_path / "through", "evaluate.enabled=false")
    resumed = start(tmp_path / "run", "evaluate.enabled=false", resume=True)
    assert (through / "model/model.safetensors").read_bytes() == (resumed / "model/model.safetensors").read_bytes()


def test_a_step_in_which_nothing_could_be_scored_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R4: when every verdict fails, the run fails and says why, instead of learning nothing to the end."""
    from jackfield_verifiers.form import Format

    def crash(self: Any, rollout: Any) -> Any:
        raise RuntimeError("no such judge")

    monkeypatch.setattr(Format, "judge", crash)
    with pytest.raises(
        UserError, match=r"none of the step's 6 rollouts could be scored: format gave error: RuntimeError: no such judge \(6×\)"
    ):
        start(tmp_path / "run", "evaluate.enabled=false")


def test_an_engine_that_fails_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no rollout's failure: every other one would meet it too."""
    from jackfield.errors import EngineFailure
    from jackfield_sampler.session import SamplerSession

    async def broken(self: Any, max_new_tokens: int, stop: Any) -> Any:
        raise FloatingPointError("the weights have diverged")

    monkeypatch.setattr(SamplerSession, "generate", broken)
    with pytest.raises(EngineFailure, match="the weights have diverged"):
        start(tmp_path / "run", "evaluate.enabled=false")


def test_observers_only_watch(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One that crashes is reported; the run and the other observers go on."""

    class Clumsy:
        @hookimpl
        def jackfield_step_end(self, run: Any, report: Any) -> None:
            raise ZeroDivisionError

    (tmp_path / "tiny.toml").write_text(RECIPE)
    watching = Watching()
    plugins = plugins_with(watching)
    plugins.manager.register(Clumsy(), name="clumsy")
    recipe = load_recipe(tmp_path / "tiny.toml", plugins, ["steps=1", "evaluate.enabled=false"])
    run(recipe, plugins, tmp_path / "run")
    assert watching.told == ["start", "step 1", "end NoneType"]
    assert "plugin 'clumsy' failed in jackfield_step_end" in caplog.text


MINE = """
from typing import ClassVar
from attrs import define, field, frozen
from jackfield import hookimpl
from jackfield.types import Verdict

@define
class Counting:
    '''Leaves out every second group it meets; remembers how many it met and the steps it saw end.'''
    met: float = field(init=False, default=0.0)
    ended: float = field(init=False, default=0.0)
    def keep(self, groups):
        kept = [g for i, g in enumerate(groups) if (self.met + i) % 2]
        self.met += len(groups)
        return kept
    def state(self): return {"met": self.met, "ended": self.ended}
    def restore(self, state): self.met, self.ended = state["met"], state["ended"]
    def after_step(self, metrics): self.ended += "reward/mean" in metrics

@frozen
class Closing:
    said: ClassVar[list] = []
    def prepare(self, tokenizer): self.said.append(f"prepared for {tokenizer.eos_id is not None}")
    def judge(self, rollout): return Verdict.score(float(len(rollout.completion) % 3))
    async def close(self): self.said.append("closed")

@frozen
class Tiring:
    asked: ClassVar[list] = []
    def judge(self, rollout):
        self.asked.append(rollout)
        return Verdict.score(float(len(self.asked) % 2)) if len(self.asked) <= 6 else Verdict.abstain("tired")

@hookimpl
def jackfield_filters(register):
    register("counting", "jackfield_mine:Counting", "Half of all groups.")

@hookimpl
def jackfield_rewards(register):
    register("closing", "jackfield_mine:Closing", "Told when it starts and ends.")
    register("tiring", "jackfield_mine:Tiring", "Judges six rollouts.")
"""


def mine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Overrides that put the parts of ``MINE`` into the recipe."""
    folder.mkdir(exist_ok=True)
    (folder / "jackfield_mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(folder))
    return [
        f'plugins=["{folder}/jackfield_mine.py"]',
        'filters=["counting"]',
        'rewards=["closing"]',
        "evaluate.enabled=false",
        "steps=3",
    ]


def test_a_step_is_refilled_and_what_components_learnt_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Filters leave groups out, refill_rounds plays further tasks in their place, the data cursor and the component's state are those
    of a run that never stopped, and parts are prepared and closed once."""
    overrides = mine(tmp_path / "a", monkeypatch)
    final = start(tmp_path / "a" / "run", *overrides, "refill_rounds=1")
    state = json.loads((final / "state.json").read_text())
    # Of 3 tasks 1 or 2 are kept, then 2 or 1 more are played, of which 1 or 0 are kept.
    assert state["components"] == {"filters.0": {"met": float(state["drawn"]), "ended": 3.0}}
    assert state["drawn"] > 9
    said = sys.modules["jackfield_mine"].Closing.said
    assert said == ["prepared for True", "closed"]
    steps = [m for kind, _, m in metrics(tmp_path / "a" / "run") if kind == "step"]
    assert all(m["groups/left_out"] == pytest.approx(m["rollout/left_out"]) for m in steps)
    assert all(0 < m["groups/left_out"] < 1 for m in steps)

    with pytest.raises(Interrupted, match="1 of 3 steps done"):
        start(tmp_path / "a" / "stopped", *overrides, "refill_rounds=1", watching=Watching(stop_after=1))
    assert said[2:] == ["prepared for True", "closed"], "also where a run was stopped"
    resumed = start(tmp_path / "a" / "stopped", *overrides, "refill_rounds=1", resume=True)
    for name in ("model/model.safetensors", "state.json"):
        assert (final / name).read_bytes() == (resumed / name).read_bytes()


def test_a_refill_that_cannot_be_judged_leaves_the_step_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a step without any judged rollout ends the run."""
    overrides = mine(tmp_path / "a", monkeypatch)
    start(tmp_path / "run", *overrides, "refill_rounds=1", 'rewards=["tiring"]', "steps=1")
    [step] = [m for kind, _, m in metrics(tmp_path / "run") if kind == "step"]
    assert step["verdicts/abstain"] > 0
    assert step["learn/skipped_updates"] == 0


def test_recorded_test_data_is_evaluated_without_learning(tmp_path: Path) -> None:
    """An engine that plays recordings gives the losses on the test split before and after; training makes them smaller, evaluating
    moves nothing."""
    supervised = [
        'engine="recorded"', "rewards=[]", "penalties=[]", 'advantage={use = "constant"}', 'losses=["cross_entropy"]', "group_size=1",
        "rollout.max_new_tokens_per_turn=64", "optimizer.lr=1e-2",
    ]  # fmt: skip
    with pytest.raises(UserError, match="no part of this recipe needs a value or score"):
        start(tmp_path / "run", *supervised)
    path = tmp_path / "tiny.toml"
    path.write_text(RECIPE.replace('[critic]\nuse = "value_head"\nbackbone = "own"\n', ""))
    plugins = plugins_with()
    run(load_recipe(path, plugins, supervised), plugins, tmp_path / "run")
    found = [m for kind, _, m in metrics(tmp_path / "run") if kind == "evaluation"]
    before, after = (m["evaluation/losses/cross_entropy"] for m in found)
    assert 0 < after < before
    plain = run(load_recipe(path, plugins, [*supervised, "evaluate.enabled=false"]), plugins, tmp_path / "plain")
    evaluated = checkpoint.saved(tmp_path / "run")[-1]
    assert (plain / "model/model.safetensors").read_bytes() == (evaluated / "model/model.safetensors").read_bytes()
