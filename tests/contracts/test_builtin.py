"""Every built-in component keeps the promises of its kind, as anyone's must."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
from typing import Any

import pytest

from jackfield.plugins import Plugins, Source
from jackfield.registry import Entry
from jackfield.testing.contracts import check_advantage, check_environment, check_filter, check_loss, check_reward, check_tool
from jackfield.testing.fakes import ScriptedTool

ROOT = Path(__file__).parents[2]

KEYS: dict[str, dict[str, Any]] = {
    "environments.single_turn": {"max_new_tokens": 64},
    "rewards.function": {"function": Path(__file__).with_name("says_paris.py:score")},
    "rewards.length": {"cost": 0.01},
    "rewards.math": {"seconds": 60.0},
    "rewards.overlong": {"max_tokens": 16, "cache": 4},
    "rewards.regex": {"pattern": "(?i)paris"},
}
"""Values for keys without a default."""

WRONG_PRACTICE = {"environments.tagged_tools_unmasked": "segments of the policy are not just what was sampled"}
"""Components that break a promise on purpose, for an ablation, and which."""

NOT_ALONE = ("rewards.reward_model", "rewards.judge", "rewards.judge_endpoint")
"""Components that need a trained model or a server: their own tests run the contract kit."""


def _builtin() -> Plugins:
    plugins = Plugins()
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]["jackfield.plugins"]
    for name, value in points.items():
        plugins.add(Source(name=name, value=value), lambda value=value: importlib.import_module(value))
    return plugins


PLUGINS = _builtin()


def _offered(kind: str) -> Any:
    return pytest.mark.parametrize("entry", PLUGINS.registries[kind].entries, ids=lambda entry: entry.qualified)


def _made(entry: Entry) -> Any:
    return entry.load()(**KEYS.get(f"{entry.kind}.{entry.name}", {}))


def test_all_plugins_load() -> None:
    """None of the built-in plugins fails to load, so none is left out here."""
    assert not [str(problem) for failure in PLUGINS.failures for problem in failure.problems]


@_offered("rewards")
def test_rewards(entry: Entry) -> None:
    """Every reward judges anything, quickly, by what the policy wrote."""
    if f"{entry.kind}.{entry.name}" in NOT_ALONE:
        pytest.skip("its own tests check it, with the model or server it needs")
    check_reward(_made(entry))


@_offered("environments")
def test_environments(entry: Entry) -> None:
    """Every environment plays any policy to an end and leaves ids and writers alone; wrong practice is found out."""
    environment = _made(entry)
    tools = {name: ScriptedTool(name=name) for name in getattr(environment, "requires_tools", ())}
    wrong = WRONG_PRACTICE.get(f"{entry.kind}.{entry.name}")
    if wrong is None:
        check_environment(environment, tools)
    else:
        with pytest.raises(AssertionError, match=wrong):
            check_environment(environment, tools)


@_offered("tools")
def test_tools(entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tool answers any text. Those that search get the eight passages of the plugin ``smoke``."""
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path))
    keys = {"corpus": PLUGINS.registries["corpora"].find("smoke").load()()} if entry.name == "search" else {}
    tool = entry.load()(**keys)
    check_tool(tool)
    if hasattr(tool, "close"):
        tool.close()


@_offered("filters")
def test_filters(entry: Entry) -> None:
    """Every filter leaves rollouts out and does nothing else."""
    check_filter(_made(entry))


@_offered("advantages")
def test_advantages(entry: Entry) -> None:
    """Every estimator credits what the policy wrote, whatever the order and whatever stands elsewhere."""
    check_advantage(_made(entry))


@_offered("losses")
def test_losses(entry: Entry) -> None:
    """Every loss gives undivided terms."""
    check_loss(_made(entry))
