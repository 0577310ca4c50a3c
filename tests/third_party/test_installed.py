"""A plugin by somebody else, built by hatchling and installed by pip: found, explained, and told apart from its bad neighbours."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Jackfield = Callable[..., "subprocess.CompletedProcess[str]"]


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_it_is_found_by_its_entry_point(jackfield: Jackfield) -> None:
    """With the distribution and version that pip installed, and what it offers."""
    listed = jackfield("plugins")
    assert listed.returncode == 0
    assert ["acme", "jackfield-acme", "1.2", "rewards:", "1,", "tools:", "1"] in words(listed.stdout)


def test_its_components_are_listed_and_explained(jackfield: Jackfield) -> None:
    """As built-in ones are, with their origin."""
    assert ["tools", "calculator", "acme", "Adds", "whole", "numbers."] in words(jackfield("components", "tools").stdout)
    explained = jackfield("explain", "rewards.acme:politeness").stdout
    assert "Looks for one word in what the policy wrote." in explained
    assert ["offered", "by", "plugin", "acme,", "jackfield-acme", "1.2"] in words(explained)
    assert '  [[rewards]]\n  use = "politeness"\n  word = "please"\n' in explained


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
