"""A recipe that starts from another one's result: run once, reused by all, gone on with if it was stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from jackfield import chain, checkpoint
from jackfield.errors import Interrupted, StopRun
from jackfield.plugins import Plugins, load_plugins
from jackfield.recipe import Recipe, load_recipe

COMMON = """
steps = 2
tasks_per_step = 2
data = {use = "smoke"}
rollout = {use = "tagged_tools", template = "{question}", max_turns = 1, max_new_tokens_per_turn = 48}
tools = [{use = "search", corpus = "smoke", top_k = 1}]
optimizer = {use = "adamw", lr = 1e-3}
trackers = ["metrics_jsonl"]
evaluate = {enabled = false}
"""
FIRST = f"""
title = "first"
{COMMON}
model = {{use = "tiny_random"}}
engine = {{use = "recorded"}}
advantage = {{use = "constant"}}
losses = ["cross_entropy"]
"""
SECOND = f"""
title = "second"
{COMMON}
group_size = 2
model = {{use = "hf_causal", from = "first.toml"}}
rewards = ["smoke"]
advantage = {{use = "group_norm"}}
losses = ["ppo_clip"]
"""


@pytest.fixture
def plugins() -> Plugins:
    torch.set_num_threads(1)
    return load_plugins(environ={})


@pytest.fixture
def second(tmp_path: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path / "cache"))
    (tmp_path / "first.toml").write_text(FIRST)
    (tmp_path / "second.toml").write_text(SECOND)
    return load_recipe(tmp_path / "second.toml", plugins)


def test_the_first_link_runs_once(second: Recipe, plugins: Plugins, tmp_path: Path) -> None:
    """Its result is made if it is missing and found if it is there; the second starts from its weights."""
    said: list[str] = []
    ready = chain.ready(second, plugins, tmp_path / "runs", said.append)
    (folder,) = (tmp_path / "runs").iterdir()
    (saved,) = checkpoint.saved(folder)
    assert ready.corridor.model.path == str(saved / "model")  # type: ignore[attr-defined]
    written = (saved / "model" / "model.safetensors").stat().st_mtime_ns
    again = chain.ready(second, plugins, tmp_path / "runs", said.append)
    assert again.corridor.model == ready.corridor.model
    assert (saved / "model" / "model.safetensors").stat().st_mtime_ns == written
    assert ["running it first" in said[0], "its result is there" in said[1]] == [True, True]
    start, trained = ready.corridor.model.load(), second.chained["model"]
    assert trained is not None
    untrained = trained.corridor.model.load()
    assert not torch.equal(start.parameters()[0], untrained.parameters()[0])


def test_a_stopped_first_link_is_gone_on_with(
    second: Recipe, plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not begun again."""
    from jackfield_trackers.metrics_jsonl import MetricsJsonl

    def stop(self: object, report: object) -> None:
        raise StopRun("enough")

    with monkeypatch.context() as patch:
        patch.setattr(MetricsJsonl, "step", stop)
        with pytest.raises(Interrupted, match="1 of 2 steps done"):
            chain.ready(second, plugins, tmp_path / "runs", lambda _: None)
    chain.ready(second, plugins, tmp_path / "runs", lambda _: None)
    (folder,) = (tmp_path / "runs").iterdir()
    assert [f.name for f in checkpoint.saved(folder)] == ["step-000001", "step-000002"]


def test_another_first_recipe_is_another_result(second: Recipe, plugins: Plugins, tmp_path: Path) -> None:
    """A changed first link changes the second's digest, so nothing stale is reused."""
    before = second.digest
    (tmp_path / "first.toml").write_text(FIRST.replace("1e-3", "2e-3"))
    assert load_recipe(tmp_path / "second.toml", plugins).digest != before
