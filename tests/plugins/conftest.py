"""Recipes that come with Jackfield, run for a few steps with a tiny model, so that a plugin is tested in the corridor it is made for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import frozen

from jackfield.recipe import Recipe
from jackfield.report import StepReport

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
EXACT = ('model.compute="float32"', "trackers=[]")


@frozen(kw_only=True)
class Taken:
    """What a run did."""

    recipe: Recipe
    folder: Path
    steps: list[StepReport]


@pytest.fixture
def take_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Taken]:
    """``take_steps("dpo", "steps=3")`` runs ``recipes/dpo.toml`` in float32 with these overrides, by default in smoke mode, into
    ``out`` of the test's folder."""
    import torch

    from jackfield import chain, hookimpl
    from jackfield.plugins import Source, load_plugins
    from jackfield.recipe import load_recipe
    from jackfield.run import run

    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path / "cache"))
    torch.set_num_threads(1)

    def take(name: str, *overrides: str, smoke: bool = True, out: str = "run") -> Taken:
        steps: list[StepReport] = []

        class Watch:
            @hookimpl
            def jackfield_step_end(self, report: StepReport) -> None:
                steps.extend([report] * (report.kind == "step"))

        plugins = load_plugins(environ={})
        plugins.add(Source(name="watch", value="watch"), Watch)
        recipe = load_recipe(RECIPES / f"{name}.toml", plugins, [*EXACT, *overrides], smoke=smoke)
        ready = chain.ready(recipe, plugins, tmp_path / "runs", lambda _: None)
        run(ready, plugins, tmp_path / out)
        return Taken(recipe=ready, folder=tmp_path / out, steps=steps)

    return take
