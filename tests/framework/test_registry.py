"""Entries and registries: names found, import strings loaded late, every refusal in words that help."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from jackfield import hookspecs
from jackfield.errors import PluginError
from jackfield.registry import KINDS, Entry, Registry


def entry(name: str = "clip", plugin: str = "acme", target: str = "json:JSONDecoder", extra: str | None = None) -> Entry:
    return Entry("losses", name, target, "A loss.", plugin, extra, distribution="acme-dist", version="1.0")


def registry(*entries: Entry, absent: dict[str, str] | None = None) -> Registry[Entry]:
    made: Registry[Entry] = Registry("losses", absent=absent)
    made.add(entries)
    return made


def test_kinds_are_the_hooks_that_take_register() -> None:
    """Every offering hook is a kind, in the manual's order; observers and commands are not."""
    assert list(KINDS) == [
        "data", "corpora", "environments", "tools", "rewards", "filters", "penalties", "advantages", "losses", "models", "critics", "engines",
        "optimizers", "embedders", "trackers",
    ]  # fmt: skip
    assert all(hasattr(hookspecs, hook) for hook in KINDS.values())


def test_a_name_is_found_bare_and_qualified() -> None:
    """Both spellings give the same entry."""
    one = registry(entry())
    assert one.find("clip") is one.find("acme:clip")
    assert one.find("clip").qualified == "acme:clip"


def test_entries_are_sorted_whatever_the_order_of_plugins() -> None:
    """Listing does not depend on who came first."""
    assert [e.qualified for e in registry(entry("b"), entry("a", "z"), entry("a")).entries] == ["acme:a", "z:a", "acme:b"]


def test_an_ambiguous_name_says_what_to_write() -> None:
    """Two plugins offer one name: both stay, and the message holds both spellings ready to be pasted."""
    both = registry(entry("ppo_clip", "ppo"), entry("ppo_clip", "acme"))
    with pytest.raises(PluginError, match='write use = "acme:ppo_clip" or use = "ppo:ppo_clip"'):
        both.find("ppo_clip")
    assert both.find("ppo:ppo_clip").plugin == "ppo"


def test_an_unknown_name_gets_the_nearest() -> None:
    """A typo is answered with the name meant, bare or qualified as it was written."""
    with pytest.raises(PluginError, match="'clpi' is unknown among losses; did you mean 'clip'"):
        registry(entry()).find("clpi")
    with pytest.raises(PluginError, match="did you mean 'acme:clip'"):
        registry(entry()).find("acmee:clip")


def test_an_unknown_name_mentions_plugins_that_are_not_loaded() -> None:
    """The plugin that failed may be the one that offers it; a qualified name mentions only its own plugin."""
    one = registry(entry(), absent={"broken": "failed to load", "off": "disabled by --no-plugin"})
    with pytest.raises(
        PluginError, match=r"'broken' \(failed to load\), 'off' \(disabled by --no-plugin\); see `jackfield plugins`"
    ):
        one.find("dpo")
    with pytest.raises(PluginError) as caught:
        one.find("broken:dpo")
    assert "'broken'" in str(caught.value)
    assert "'off'" not in str(caught.value)


def test_load_imports_only_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Registering and finding import nothing."""
    (tmp_path / "late_module.py").write_text("class Late: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = registry(entry(target="late_module:Late")).find("clip")
    assert "late_module" not in sys.modules
    assert found.load().__name__ == "Late"
    del sys.modules["late_module"]


def test_a_missing_dependency_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module that is missing is not the target: both are named, with the pip line of the plugin's own distribution."""
    (tmp_path / "needy_module.py").write_text("import no_such_dependency.part\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(PluginError) as caught:
        entry(target="needy_module:Needy", extra="needs").load()
    assert str(caught.value) == (
        "plugin 'acme': losses.clip: needy_module:Needy: needs the module 'no_such_dependency', which is not installed; "
        "pip install 'acme-dist[needs]'"
    )


def test_a_missing_target_module_is_not_taken_for_a_dependency() -> None:
    """A misspelt target is the plugin's mistake and is said so."""
    with pytest.raises(PluginError, match=r"no_such_module\.part:X: there is no module 'no_such_module'"):
        entry(target="no_such_module.part:X").load()


def test_an_import_error_of_another_kind_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``from json import nothing`` names no missing module; its own words are kept."""
    (tmp_path / "wrong_module.py").write_text("from json import nothing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(PluginError, match="cannot be imported: cannot import name 'nothing' from 'json'"):
        entry(target="wrong_module:X").load()


def test_a_bug_in_the_target_stays_a_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only ImportError is the user's to mend; a crash keeps its traceback."""
    (tmp_path / "crash_module.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ZeroDivisionError):
        entry(target="crash_module:X").load()


def test_a_missing_attribute_gets_the_nearest() -> None:
    """Only names the module defines itself are proposed."""
    with pytest.raises(PluginError, match=r"module 'json\.decoder' has no 'JSONDecodr'; did you mean 'JSONDecoder'"):
        entry(target="json.decoder:JSONDecodr").load()


def test_a_target_that_is_no_class_is_refused() -> None:
    """A function in place of a class is found at load, not when a recipe is built."""
    with pytest.raises(PluginError, match="json:dumps: is not a class"):
        entry(target="json:dumps").load()


def test_provenance_names_file_line_and_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the class is written, and which distribution brought it."""
    (tmp_path / "placed_module.py").write_text("\n\nclass Placed:\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    where = entry(target="placed_module:Placed").provenance()
    assert (where.module, where.line, where.distribution, where.version) == ("placed_module", 3, "acme-dist", "1.0")
    assert where.file == str(tmp_path / "placed_module.py")
    del sys.modules["placed_module"]
