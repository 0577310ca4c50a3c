"""Every component that is registered keeps the promises of its kind: those that come with Jackfield, and whatever else is installed."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from jackfield.plugins import GROUP, load_plugins
from jackfield.recipe.fields import recipe_keys
from jackfield.registry import Entry
from jackfield.testing.contracts import check_offered, offered

ROOT = Path(__file__).parents[2]
POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"][GROUP]

KEYS: Mapping[str, Mapping[str, Any]] = {
    "environments.retrieve_then_read": {"max_new_tokens": 64},
    "environments.single_turn": {"max_new_tokens": 64},
    "environments.steps": {"max_new_tokens_per_step": 64},
    "penalties.kl": {"coefficient": 0.1},
    "rewards.function": {"function": Path(__file__).with_name("says_paris.py:score")},
    "rewards.length": {"cost": 0.01},
    "rewards.math": {"seconds": 60.0},
    "rewards.overlong": {"max_tokens": 16, "cache": 4},
    "rewards.regex": {"pattern": "(?i)paris"},
}
"""Values for keys without a default."""

FURTHER: Mapping[str, Mapping[str, Any]] = {
    "advantages.gae": {"lam": 0.9, "critic_lam": 1.0, "gamma": 0.99},
    "losses.dpo": {"label_smoothing": 0.1},
    "losses.ppo_clip": {"dual_clip": 3.0},
    "losses.value_clip": {"clip": None},
    "penalties.kl": {"coefficient": 0.1, "target": 0.05},
}
"""What is checked beside a component's defaults and its choices one by one."""

WRONG_PRACTICE = {"environments.tagged_tools_unmasked": "segments of the policy are not just what was sampled"}
"""Components that break a promise on purpose, for an ablation, and which."""

ELSEWHERE = {
    "rewards.reward_model": "plugins/jackfield_transformers/test_reward_model.py",
    "rewards.process_reward_model": "plugins/jackfield_transformers/test_process_reward_model.py",
    "rewards.judge": "plugins/jackfield_judge/test_local.py",
    "rewards.judge_endpoint": "plugins/jackfield_judge/test_endpoint.py",
}
"""Components that need a trained model or a server, and the tests that run the contract kit with it."""

CHOSEN_IN_LOOPS = ("advantages", "losses", "penalties", "filters")
"""Kinds that are checked with every choice they offer."""


def _called(entry: Entry) -> str:
    return f"{entry.kind}.{entry.name}"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written where a user keeps things."""
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path))


@pytest.mark.parametrize("entry", offered(), ids=_called)
def test_it_keeps_the_promises_of_its_kind(entry: Entry) -> None:
    """Tools that search get the eight passages of the plugin ``smoke``."""
    called = _called(entry)
    if called in ELSEWHERE:
        assert "check_reward(" in (ROOT / "tests" / ELSEWHERE[called]).read_text(encoding="utf-8")
        pytest.skip(f"checked by {ELSEWHERE[called]}")
    keys = {**KEYS.get(called, {}), **({"corpus": _smoke_passages()} if called == "tools.search" else {})}
    if called in WRONG_PRACTICE:
        with pytest.raises(AssertionError, match=WRONG_PRACTICE[called]):
            check_offered(entry, **keys)
    else:
        check_offered(entry, **keys)


def _smoke_passages() -> Any:
    return load_plugins().registries["corpora"].find("smoke").load()()


def _choices() -> Iterator[tuple[Entry, dict[str, Any]]]:
    """Every switch and every named choice of a component, one at a time."""
    for entry in offered():
        if entry.kind not in CHOSEN_IN_LOOPS:
            continue
        cls = entry.load()
        hints = get_type_hints(cls)
        for key, attribute in recipe_keys(cls).items():
            kind = hints[attribute.name]
            values = get_args(kind) if get_origin(kind) is Literal else (True, False) if kind is bool else ()
            yield from ((entry, {key: value}) for value in values if value != attribute.default)
        if _called(entry) in FURTHER:
            yield entry, dict(FURTHER[_called(entry)])


@pytest.mark.parametrize(
    ("entry", "keys"), [pytest.param(entry, keys, id=f"{_called(entry)}-{keys}") for entry, keys in _choices()]
)
def test_and_with_every_choice(entry: Entry, keys: dict[str, Any]) -> None:
    """Not only by default."""
    check_offered(entry, **{**KEYS.get(_called(entry), {}), **keys})


def test_none_is_left_out() -> None:
    """What is checked above holds every plugin of pyproject.toml: none failed to load, and none is missing because of an old install."""
    assert {plugin.name for plugin in load_plugins(environ={}).loaded} >= set(POINTS)
