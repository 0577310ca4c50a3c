"""A recipe that starts from another one's result: run once, reused by all, gone on with if it was stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from jackfield import chain, checkpoint
from jackfield.errors import Interrupted, StopRun, UserError
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


def test_a_result_is_found_by_its_digest(second: Recipe, plugins: Plugins, tmp_path: Path) -> None:
    """Whatever its folder is called: --out may have named it, and the frozen recipe, which starts from a frozen one, names it otherwise."""
    from jackfield.run import run

    runs, said = tmp_path / "runs", list[str]()
    made = run(second.chained["model"], plugins, runs / "mine")
    ready = chain.ready(second, plugins, runs, said.append)
    assert ready.corridor.model.path == str(made / "model")  # type: ignore[attr-defined]
    second.write_frozen(tmp_path / "elsewhere")
    frozen = load_recipe(tmp_path / "elsewhere/recipe.toml", plugins)
    assert chain.ready(frozen, plugins, runs, said.append).corridor.model == ready.corridor.model
    assert said == [
        f"second.toml starts from first.toml: its result is there, {made}",
        f"second starts from first: its result is there, {made}",
    ]
    assert [folder.name for folder in runs.iterdir()] == ["mine"]


def test_a_longer_run_of_the_first_link_is_another_result(second: Recipe, plugins: Plugins, tmp_path: Path) -> None:
    """It keeps the folder that is named after the shorter one, which is made anew in another."""
    from jackfield.run import run

    first, runs = second.chained["model"], tmp_path / "runs"
    run(first, plugins, chain.default_folder(first, runs))
    longer = load_recipe(first.path, plugins, ["steps=3"])
    run(longer, plugins, chain.default_folder(first, runs), resume=True)
    assert chain.result(longer, runs) == chain.default_folder(first, runs) / "checkpoints/step-000003"
    assert chain.result(first, runs) is None
    chain.ready(second, plugins, runs, lambda _: None)
    assert chain.result(first, runs) == runs / f"first-{first.digest[:16]}" / "checkpoints/step-000002"


def test_what_a_finished_link_started_from_is_not_run_again(second: Recipe, plugins: Plugins, tmp_path: Path) -> None:
    """Even if its own result is gone."""
    from jackfield.run import run

    runs = tmp_path / "runs"
    (tmp_path / "third.toml").write_text(SECOND.replace("first.toml", "second.toml").replace('"second"', '"third"'))
    third = load_recipe(tmp_path / "third.toml", plugins)
    assert [link.path.name for link in chain.missing(third, runs)] == ["first.toml", "second.toml"]
    run(chain.ready(second, plugins, tmp_path / "other", lambda _: None), plugins, chain.default_folder(second, runs))
    assert chain.missing(third, runs) == []
    chain.ready(third, plugins, runs, lambda _: None)
    assert len(list(runs.iterdir())) == 1


def test_rows_and_files_of_all_links_are_looked_at_together(second: Recipe, plugins: Plugins, tmp_path: Path) -> None:
    """With the tokenizer that the chain begins with, since the weights do not exist yet; each problem says of which link it is."""
    runs = tmp_path / "runs"
    corpus = 'tools = [{use = "search", corpus = {use = "jsonl", path = "none.jsonl"}}]'
    (tmp_path / "first.toml").write_text(FIRST.replace("max_new_tokens_per_turn = 48", "max_new_tokens_per_turn = 4"))
    changed = SECOND.replace('tools = [{use = "search", corpus = "smoke", top_k = 1}]', corpus)
    (tmp_path / "second.toml").write_text(changed.replace("max_turns = 1", "max_turns = 1, max_tokens = 12"))
    recipe = load_recipe(tmp_path / "second.toml", plugins)
    with pytest.raises(UserError) as wrong:
        chain.require_playable([*chain.missing(recipe, runs), recipe], runs)
    told = str(wrong.value)
    assert "but the environment allows 4" in told
    assert "first.toml: mend the rows" in told
    assert "second.toml:8: tools.0.corpus.path: " in told
    assert "none.jsonl is not there" in told
    assert "second.toml: mend the rows" in told


def test_rows_that_a_link_has_yet_to_make_are_left_for_later(second: Recipe, plugins: Plugins, tmp_path: Path) -> None:
    """Until they are there."""
    rows = 'data = {use = "sampled_best", from = "second.toml", source = "nobody"}'
    (tmp_path / "third.toml").write_text(FIRST.replace('data = {use = "smoke"}', rows))
    third, runs = load_recipe(tmp_path / "third.toml", plugins), tmp_path / "runs"
    chain.require_playable([*chain.missing(third, runs), third], runs)
    with pytest.raises(UserError, match=r"third.toml:\d+: data.from: the rows that were trained on cannot be read again"):
        chain.with_training_rows(third, runs)
    ready = chain.ready(third, plugins, runs, lambda _: None)
    with pytest.raises(UserError, match="tracker rollouts_jsonl"):
        chain.require_playable([third], runs)
    assert chain.with_training_rows(third, runs).corridor.data == ready.corridor.data
