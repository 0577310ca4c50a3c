"""Recipes written to a temporary working directory, read with a plugin of fakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from jackfield.errors import RecipeError
from jackfield.plugins import Plugins
from jackfield.recipe import Recipe, load_recipe

SOUND = """\
title = "a test"
steps = 10
tasks_per_step = 4
group_size = 2
model = {use = "hf", path = "weights"}
data = "rows"
rollout = "chat"
rewards = ["exact"]
advantage = "group_norm"
losses = ["clip"]
"""
"""The shortest recipe there is; ``Desk.sound`` appends to it (tables of its own, of course)."""


class Desk:
    """Writes and loads recipes."""

    def __init__(self, plugins: Plugins) -> None:
        self.plugins = plugins

    def write(self, text: str, name: str = "r.toml") -> Path:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def load(self, text: str, *overrides: str) -> Recipe:
        return load_recipe(self.write(text), self.plugins, overrides)

    def sound(self, more: str = "", *overrides: str, without: Sequence[str] = ()) -> Recipe:
        lines = [line for line in SOUND.splitlines() if line.partition(" ")[0] not in without]
        return self.load("\n".join([*lines, more]), *overrides)

    def problems(self, load: Callable[[], object]) -> list[str]:
        """What is wrong with a recipe, one message a problem."""
        with pytest.raises(RecipeError) as caught:
            load()
        return [str(problem) for problem in caught.value.problems]


@pytest.fixture(scope="session")
def fake_plugins() -> Plugins:
    """Loaded once: the fakes keep no state."""
    plugins = Plugins()
    plugins.add_file(Path(__file__).with_name("fakes.py"))
    assert not plugins.failures
    return plugins


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_plugins: Plugins) -> Desk:
    """A working directory with nothing in it."""
    monkeypatch.chdir(tmp_path)
    return Desk(fake_plugins)
