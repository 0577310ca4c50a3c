"""What is compared, and that only what is missing is run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from jackfield import chain
from jackfield.compare import grid
from jackfield.compare.grid import Entry, Maker, Planned
from jackfield.errors import Interrupted, UserError
from jackfield.plugins import Plugins
from jackfield.recipe import Recipe, load_recipe

CELL = """
title = "cell"
steps = 2
tasks_per_step = 2
group_size = 2
data = "smoke"
rollout = {use = "single_turn", max_new_tokens = 8}
rewards = ["exact_match"]
advantage = "group_norm"
losses = ["ppo_clip"]
optimizer = {lr = 1e-3}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grids").mkdir()
    (tmp_path / "grids/a.toml").write_text(f'{CELL}model = "tiny_random"')
    (tmp_path / "grids/b.toml").write_text(f'{CELL}model = {{use = "hf_causal", from = "a.toml"}}')
    return tmp_path


def make_grid(here: Path, text: str) -> str:
    (here / "grids/grid.toml").write_text(text)
    return "grids/grid.toml"


def test_a_grid_is_every_cell_at_every_seed(here: Path) -> None:
    """Its recipes are those beside it; what it sets comes first, then the command line, then the seed."""
    asked = make_grid(here, 'cells = ["a.toml", "b.toml"]\nseeds = [0, 7]\nset = ["steps=3"]\nevaluated_by = "a.toml"')
    found = grid.entries([asked], ["group_size=4"], smoke=True)
    assert [entry.name for entry in found] == ["a", "b"]
    runs = found[1].runs
    assert [run.overrides for run in runs if isinstance(run, Planned)] == [
        ("steps=3", "group_size=4", "seed=0"),
        ("steps=3", "group_size=4", "seed=7"),
    ]
    assert all(isinstance(run, Planned) and run.smoke and run.evaluated_by == Path("grids/a.toml") for run in runs)


def test_runs_recipes_and_grids_together(here: Path) -> None:
    """In the order given; names that meet are told apart."""
    (here / "runs/a").mkdir(parents=True)
    (here / "runs/a/recipe.toml").touch()
    found = grid.entries(["runs/a", "grids/a.toml", make_grid(here, 'cells = ["b.toml"]')], [], smoke=False)
    assert [entry.name for entry in found] == ["a", "a#2", "b"]
    assert found[0].runs == (Path("runs/a"),)
    assert found[1].runs == (Planned(path=Path("grids/a.toml")),)


def test_mistakes_of_a_grid_are_told_together(here: Path) -> None:
    """Unknown keys with the nearest, wrong types with what was expected; a cell that is nowhere."""
    asked = make_grid(here, 'cells = []\nseed = [0]\nset = "x=1"\nevaluated_by = 3')
    with pytest.raises(UserError) as wrong:
        grid.entries([asked], [], smoke=False)
    lines = str(wrong.value).splitlines()
    assert len(lines) == 4
    assert "seed: unknown key of a grid; did you mean 'seeds'?" in lines[1]
    with pytest.raises(UserError, match="nowhere"):
        grid.entries([make_grid(here, 'cells = ["nowhere.toml"]')], [], smoke=False)


class Child:
    """Stands for ``jackfield run`` and ``jackfield eval``: leaves behind what they would."""

    def __init__(self, plugins: Plugins) -> None:
        self.plugins = plugins
        self.called: list[list[str]] = []
        self.fails: dict[str, int] = {}

    def __call__(self, words: Sequence[str]) -> Child:
        assert words[:3] == [sys.executable, "-m", "jackfield"]
        self.called.append(list(words[3:]))
        return self

    def wait(self) -> int:
        command, what, *rest = self.called[-1]
        code = self.fails.get(Path(what).stem, 0)
        if command == "run" and not code:
            changes = [value for word, value in pairwise(rest) if word == "--set"]
            self.leave(Path(rest[rest.index("--out") + 1]), load_recipe(Path(what), self.plugins, changes))
        if command == "eval":
            target = (
                Path(rest[rest.index("--json") + 1]) if "--json" in rest else Path(what) / "evaluations/step-000002-greedy.json"
            )
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
        return code

    def leave(self, folder: Path, recipe: Recipe, step: int = 2) -> None:
        recipe.write_frozen(folder)
        saved = folder / f"checkpoints/step-{step:06d}"
        saved.mkdir(parents=True, exist_ok=True)
        (saved / "state.json").write_text(json.dumps({"step": step, "update": step, "drawn": 0}))


@pytest.fixture
def child(plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> Child:
    standing_in = Child(plugins)
    monkeypatch.setattr(subprocess, "Popen", standing_in)
    return standing_in


@pytest.fixture
def maker(plugins: Plugins) -> Maker:
    return Maker(plugins=plugins, say=lambda _: None, switches=("--no-plugin", "x"))


def commands(child: Child) -> list[tuple[str, str]]:
    return [(words[0], Path(words[1]).name) for words in child.called]


def test_what_is_missing_is_run_and_found_again(here: Path, child: Child, maker: Maker, plugins: Plugins) -> None:
    """First what a cell starts from, in a process of its own; then the cell, where jackfield run would put it; then the scores that the
    run did not keep. Asked again, nothing runs."""
    entry = Entry(name="b", runs=(Planned(path=Path("grids/b.toml"), overrides=("seed=1",)),))
    (found,) = maker.bring(entry)
    folder = chain.default_folder(load_recipe(Path("grids/b.toml"), plugins, ["seed=1"]), Path("runs"))
    assert found == (folder, None)
    assert commands(child) == [("run", "a.toml"), ("run", "b.toml"), ("eval", folder.name)]
    assert child.called[1][2:4] == ["--set", "seed=1"]
    assert all(words[-2:] == ["--no-plugin", "x"] for words in child.called)
    assert maker.bring(entry) == [found]
    assert len(child.called) == 3


def test_a_run_is_found_under_any_name(here: Path, child: Child, maker: Maker, plugins: Plugins) -> None:
    """By its digest: --out may have named its folder. What it starts from is not asked for again."""
    recipe = load_recipe(Path("grids/b.toml"), plugins)
    child.leave(Path("runs/mine"), recipe)
    ((folder, _),) = maker.bring(Entry(name="b", runs=(Planned(path=Path("grids/b.toml")),)))
    assert folder == Path("runs/mine")
    assert commands(child) == [("eval", "mine")]


def test_rows_of_a_whole_chain_are_read_before_it_runs(here: Path, child: Child, maker: Maker) -> None:
    """Those of the last link too."""
    rows = 'data = {use = "jsonl", train = "none.jsonl", test = "none.jsonl"}'
    (here / "grids/b.toml").write_text((here / "grids/b.toml").read_text().replace('data = "smoke"', rows))
    with pytest.raises(UserError, match=r"grids/b.toml:6: data.train: grids/none.jsonl is not there"):
        maker.bring(Entry(name="b", runs=(Planned(path=Path("grids/b.toml")),)))
    assert not child.called


def test_what_was_stopped_goes_on(
    here: Path, child: Child, maker: Maker, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --resume; a run that is stopped again ends the comparison."""
    recipe = load_recipe(Path("grids/a.toml"), plugins)
    child.leave(chain.default_folder(recipe, Path("runs")), recipe, step=1)
    entry = Entry(name="a", runs=(Planned(path=Path("grids/a.toml")),))
    child.fails = {"a": 130}
    with pytest.raises(Interrupted, match="goes on"):
        maker.bring(entry)
    child.fails = {}
    maker.bring(entry)
    assert "--resume" in child.called[0]
    assert "--resume" in child.called[1]


def test_ctrl_c_is_the_childs(here: Path, child: Child, maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a child runs, the parent only waits; afterwards Ctrl-C is its own again."""
    before = signal.getsignal(signal.SIGINT)
    wait = child.wait

    def pressed() -> int:
        signal.raise_signal(signal.SIGINT)
        return wait()

    monkeypatch.setattr(child, "wait", pressed)
    maker.bring(Entry(name="a", runs=(Planned(path=Path("grids/a.toml")),)))
    assert signal.getsignal(signal.SIGINT) is before


def test_one_failure_does_not_end_the_others(here: Path, child: Child, maker: Maker) -> None:
    """It is noted, with what it was."""
    child.fails = {"a": 1}
    assert maker.bring(Entry(name="a", runs=(Planned(path=Path("grids/a.toml"), overrides=("seed=4",)),))) == []
    assert [str(problem) for problem in maker.failed] == ["a: seed=4: jackfield run ended with exit code 1"]


def test_scores_by_another_recipe(here: Path, child: Child, maker: Maker, plugins: Plugins) -> None:
    """Each cell's final weights by the same recipe, once, in a file that is named after it."""
    planned = Planned(path=Path("grids/a.toml"), evaluated_by=Path("grids/b.toml"))
    ((folder, file),) = maker.bring(Entry(name="a", runs=(planned,)))
    judge = load_recipe(Path("grids/b.toml"), plugins)
    assert file == folder / f"evaluations/step-000002-by-b-{judge.digest[:8]}.json"
    last = child.called[-1]
    assert last[0] == "eval"
    assert last[2:6] == ["--model", str(folder / "checkpoints/step-000002/model"), "--json", str(file)]
    assert load_recipe(Path(last[1]), plugins).digest == judge.digest
    maker.bring(Entry(name="a", runs=(planned,)))
    assert len(child.called) == 2


def test_switches_reach_the_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin file, and a plugin that is left out."""
    from jackfield.plugins import load_plugins

    file = tmp_path / "mine.py"
    file.write_text("from jackfield import hookimpl\n\n@hookimpl\ndef jackfield_check(recipe): ...\n")
    loaded = load_plugins(no_plugins=["judge"], files=[file], environ={})
    assert grid.switches(loaded) == ("--plugin", str(file), "--no-plugin", "judge")
