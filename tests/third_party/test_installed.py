"""A plugin by somebody else, built by hatchling and installed by pip: found, explained, and told apart from its bad neighbours."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Jackfield = Python = Callable[..., "subprocess.CompletedProcess[str]"]

RECIPE = """
title = "politeness"
requires = ["jackfield-acme>=1.2"]
steps = 2
tasks_per_step = 2
group_size = 2
model = {use = "tiny_random", layers = 1}
data = "polite_sums"
engine = "recorded"
rollout = {use = "tagged_tools", tool_tags = {add = "calculator"}}
tools = ["acme:calculator"]
rewards = [{use = "acme:politeness", word = "please"}]
advantage = "group_norm"
losses = ["ppo_clip"]
evaluate = {enabled = false}
optimizer = {use = "adamw", lr = 1e-3}
"""


CONTRACTS = """
import pytest

from jackfield.testing.contracts import check_offered, offered

KEYS = {"per_token": {"price": 0.1}}


@pytest.mark.parametrize("entry", offered("acme"), ids=lambda entry: f"{entry.kind}.{entry.name}")
def test_contracts(entry):
    check_offered(entry, **KEYS.get(entry.name, {}))
"""


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_it_is_found_by_its_entry_point(jackfield: Jackfield) -> None:
    """With the distribution and version that pip installed, and what it offers."""
    listed = jackfield("plugins")
    assert listed.returncode == 0
    [offers] = [line[3:] for line in words(listed.stdout) if line[:3] == ["acme", "jackfield-acme", "1.2"]]
    assert " ".join(offers) == "advantages: 1, data: 1, filters: 1, losses: 2, penalties: 1, rewards: 1, tools: 1"


def test_its_components_are_listed_and_explained(jackfield: Jackfield) -> None:
    """As built-in ones are, with their origin; a name that a built-in one has too is written with the plugin's."""
    assert ["tools", "acme:calculator", "acme", "Adds", "whole", "numbers."] in words(jackfield("components", "tools").stdout)
    explained = jackfield("explain", "rewards.acme:politeness").stdout
    assert "Looks for one word in what the policy wrote." in explained
    assert ["offered", "by", "plugin", "acme,", "jackfield-acme", "1.2"] in words(explained)
    assert '  [[rewards]]\n  use = "politeness"\n  word = "please"\n' in explained


def test_a_recipe_trains_with_its_parts(jackfield: Jackfield, tmp_path: Path) -> None:
    """The tool is called, the reward's verdicts stand in the run's rollouts and are learnt from, and the frozen recipe says whose
    parts they were; a newer version that is required but not installed is refused."""
    recipe = tmp_path / "polite.toml"
    recipe.write_text(RECIPE)
    done = jackfield("run", str(recipe), "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    reports = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [report["step"] for report in reports] == [1, 2]
    for report in reports:
        assert report["metrics"]["rollout/calculator_calls"] == 1
        assert report["metrics"]["reward/politeness"] == 0.5
        assert report["metrics"]["ppo_clip/ratio"] == pytest.approx(1)
        assert report["metrics"]["learn/computed_rollouts"] == 1
    for file in sorted((tmp_path / "run" / "rollouts").iterdir()):
        for rollout in map(json.loads, file.read_text().splitlines()):
            polite = rollout["member"] == 1
            verdict = rollout["verdicts"]["politeness"]
            assert (verdict["value"], verdict["reason"]) == ((1.0, "says please") if polite else (0.0, "never says please"))
            (observed,) = [s["text"] for s in rollout["segments"] if s["writer"] == "environment"]
            assert f"<information>{rollout['answers'][0]}</information>" in observed
    frozen = (tmp_path / "run" / "recipe.toml").read_text()
    assert "# acme: jackfield-acme 1.2\n" in frozen
    assert 'use = "acme:politeness"' in frozen
    assert 'use = "acme:calculator"' in frozen
    recipe.write_text(RECIPE.replace(">=1.2", ">=2"))
    refused = jackfield("check", str(recipe))
    assert refused.returncode == 2
    assert "needs jackfield-acme>=2, found jackfield-acme 1.2" in refused.stderr


def test_its_author_runs_the_contracts(python: Python, tmp_path: Path) -> None:
    """Everything the plugin registers, one test each, by the same checks as the built-in ones; the careless loss is found out."""
    (tmp_path / "test_acme.py").write_text(CONTRACTS)
    done = python("-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path / "test_acme.py"))
    results = {
        line[1].partition("::")[2]: line[0] for line in words(done.stdout) if line and line[0] in ("PASSED", "FAILED", "ERROR")
    }
    good = ("tools.calculator", "rewards.politeness", "filters.brief", "penalties.per_token", "advantages.centred", "losses.plain")
    expected = {f"test_contracts[{name}]": "PASSED" for name in good} | {"test_contracts[losses.careless]": "FAILED"}
    assert results == expected, done.stdout + done.stderr
    assert "never divide" in done.stdout


def test_a_plugin_that_fails_to_import_is_shown(jackfield: Jackfield) -> None:
    """In ``plugins`` in full; elsewhere as one line on stderr, while the command does its work."""
    listed = jackfield("plugins").stdout
    assert (
        "failed to load: plugin 'broken' (jackfield-broken 1.0)\n"
        "  ModuleNotFoundError: No module named 'a_module_that_is_not_there'\n" in listed
    )  # fmt: skip
    assert "import a_module_that_is_not_there" in jackfield("plugins", "--verbose").stdout
    elsewhere = jackfield("components")
    assert elsewhere.returncode == 0
    assert "jackfield: warning: plugin 'broken' (jackfield-broken 1.0) failed to load (see jackfield plugins)\n" in elsewhere.stderr


def test_a_misspelt_hook_is_shown_and_leaves_nothing(jackfield: Jackfield) -> None:
    """The hook meant is named, and what the plugin's good hook offered is gone."""
    listed = jackfield("plugins").stdout
    assert (
        "failed to load: plugin 'misspelt' (jackfield-misspelt 1.0)\n"
        "  jackfield_tolls: there is no hook 'jackfield_tolls'; did you mean 'jackfield_tools'?\n" in listed
    )  # fmt: skip
    assert "half" not in jackfield("components", "rewards").stdout
    unknown = jackfield("explain", "rewards.misspelt:half")
    assert unknown.returncode == 2
    assert "'misspelt' (failed to load); see `jackfield plugins`" in unknown.stderr


def test_a_shared_name_says_what_to_write(jackfield: Jackfield) -> None:
    """Both plugins stay usable."""
    ambiguous = jackfield("explain", "rewards.politeness")
    assert ambiguous.returncode == 2
    assert ambiguous.stderr.endswith(
        "jackfield: 'politeness' is offered by more than one plugin; "
        'write use = "acme:politeness" or use = "rival:politeness"\n'
    )  # fmt: skip


def test_a_missing_extra_says_what_to_install(jackfield: Jackfield) -> None:
    """The distribution named is the third party's."""
    missing = jackfield("explain", "rewards.rival:politeness")
    assert missing.returncode == 2
    assert missing.stderr.endswith(
        "needs the module 'module_of_the_extra_manners', which is not installed; pip install 'jackfield-rival[manners]'\n"
    )


@pytest.mark.parametrize("name", ["acme", "broken"])
def test_it_can_be_switched_off(jackfield: Jackfield, name: str) -> None:
    """A plugin that is switched off is not tried."""
    listed = jackfield("plugins", "--no-plugin", name)
    assert [name, "disabled", "by", "--no-plugin"] in words(listed.stdout)
    assert f"plugin '{name}'" not in listed.stdout
