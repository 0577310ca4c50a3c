"""Every recipe that comes with Jackfield is sound, and its whole code path runs in seconds in small."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
import torch

from jackfield import chain, checkpoint
from jackfield.plugins import Plugins, load_plugins
from jackfield.recipe import load_recipe
from jackfield.run import run

ROOT = Path(__file__).resolve().parents[2]
GRIDS = sorted(path for path in (ROOT / "recipes").glob("*.toml") if "cells" in tomllib.loads(path.read_text(encoding="utf-8")))
RECIPES = sorted({*(ROOT / "recipes").glob("*.toml")} - {*GRIDS})
TRACKERS = 'trackers=[{use = "metrics_jsonl"}]'


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    torch.set_num_threads(1)
    return load_plugins(environ={})


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_shipped_recipe_runs_in_small(path: Path, plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It loads, and with ``--smoke`` takes its two steps through the real corridor, after what it is chained from: rollouts are
    judged and learnt from, the first update's ratio is 1, and the last checkpoint is there. One without steps evaluates, once."""
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path / "cache"))
    recipe = load_recipe(path, plugins, [TRACKERS], smoke=True)
    ready = chain.ready(recipe, plugins, tmp_path / "runs", lambda _: None)
    final = run(ready, plugins, tmp_path / "run")
    num_steps = min(load_recipe(path, plugins).corridor.run.steps, 2)
    assert checkpoint.read_state(final).step == recipe.corridor.run.steps == num_steps
    reports = [json.loads(line)["metrics"] for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    steps = [metrics for metrics in reports if "learn/computed_rollouts" in metrics]
    assert len(steps) == num_steps
    if num_steps == 0:
        [found] = reports
        assert found["evaluation/rollout/finish_failed"] == 0
        assert {f"evaluation/reward/{named.name}" for named in recipe.corridor.rewards} <= found.keys()
    for found in steps:
        assert found["rollout/policy_tokens"] > 0
        assert found["rollout/finish_failed"] == 0
        assert {f"reward/{named.name}" for named in recipe.corridor.rewards} <= found.keys()
        if any(getattr(loss.part, "reads_policy", True) for loss in recipe.corridor.losses):
            assert found["policy/first_update_ratio"] == pytest.approx(1.0, abs=1e-5)
        assert [name for name in found if name.startswith("grad_norm")]
        assert all(norm > 0 for name, norm in found.items() if name.startswith("grad_norm"))
        assert found["learn/skipped_updates"] == 0


@pytest.mark.parametrize("path", GRIDS, ids=lambda path: path.stem)
def test_a_shipped_grid_names_shipped_recipes(path: Path) -> None:
    """Every cell is a recipe beside it, so that it is run in small above."""
    cells = tomllib.loads(path.read_text(encoding="utf-8"))["cells"]
    assert cells
    assert not [cell for cell in cells if path.parent / cell not in RECIPES]
