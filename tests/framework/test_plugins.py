"""The loader: what is found, what is refused and in which words, and that a refused plugin leaves nothing behind."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jackfield.errors import PluginError, UserError
from jackfield.plugins import Failure, Loaded, Plugins, load_plugins

Install = Callable[..., Path]

GOOD = """
@hookimpl
def jackfield_rewards(register):
    register("politeness", "acme_plugin:Politeness", "1 if the answer says please.")

class Politeness: pass
"""
REWARD = 'register("{0}", "acme_plugin:X", "A reward.")'


def load(**options: object) -> Plugins:
    return load_plugins(environ={}, **options)  # type: ignore[arg-type]


def loaded(plugins: Plugins, name: str = "acme") -> Loaded:
    return next(plugin for plugin in plugins.loaded if plugin.name == name)


def failure(plugins: Plugins, name: str = "acme") -> Failure:
    """The plugin failed, and nothing of it is left: no hook, no entry, no command."""
    assert not plugins.manager.has_plugin(name)
    assert all(entry.plugin != name for registry in plugins.registries.values() for entry in registry.entries)
    assert all(entry.plugin != name for entry in plugins.commands.entries)
    assert all(impl.plugin_name != name for hook in vars(plugins.manager.hook).values() for impl in hook.get_hookimpls())
    assert plugins.absent[name] == "failed to load"
    return next(plugin for plugin in plugins.failures if plugin.name == name)


def only_problem(plugins: Plugins, name: str = "acme") -> str:
    (problem,) = failure(plugins, name).problems
    return str(problem)


def test_an_installed_plugin_is_found(install: Install) -> None:
    """Name, distribution, version, hooks and entries are known, and the component loads."""
    install("acme", GOOD)
    plugins = load()
    plugin = loaded(plugins)
    assert (plugin.distribution, plugin.version, plugin.hooks) == ("acme-dist", "1.0", ("jackfield_rewards",))
    entry = plugins.registries["rewards"].find("acme:politeness")
    assert (entry.distribution, entry.version) == ("acme-dist", "1.0")
    assert entry.load().__name__ == "Politeness"


def test_plugins_load_in_the_order_of_their_names(install: Install) -> None:
    """The order does not depend on the import path."""
    for name in ("zebra", "acme", "mid"):
        install(name, GOOD)
    assert [plugin.name for plugin in load().loaded if plugin.name in ("zebra", "acme", "mid")] == ["acme", "mid", "zebra"]


def test_a_plugin_that_fails_to_import_stops_nothing(install: Install) -> None:
    """The others load; the failure keeps what happened, who it was and the whole traceback."""
    install("acme", "import no_such_module\n")
    install("beta", GOOD)
    plugins = load()
    assert only_problem(plugins) == "plugin 'acme' (acme-dist 1.0): ModuleNotFoundError: No module named 'no_such_module'"
    assert 'acme_plugin.py", line 3' in failure(plugins).traceback
    assert loaded(plugins, "beta")


@pytest.mark.parametrize("line", ["def (", "raise SystemExit(3)", "1 / 0"])
def test_any_crash_at_import_is_a_failure(install: Install, line: str) -> None:
    """A syntax error, an exit and a bug are the plugin's, never the command's."""
    install("acme", line)
    assert failure(load()).traceback


def test_a_misspelt_hook_gets_the_nearest(install: Install) -> None:
    """Plugin, hook and the hook meant are named; the well-spelt hooks of the same plugin are not left behind."""
    install("acme", GOOD + "@hookimpl\ndef jackfield_rewrds(register): ...\n")
    assert only_problem(load()) == (
        "plugin 'acme' (acme-dist 1.0): jackfield_rewrds: there is no hook 'jackfield_rewrds'; did you mean 'jackfield_rewards'?"
    )


def test_an_optional_hook_may_be_unknown(install: Install) -> None:
    """pluggy's way to support several versions of a host stays open."""
    install("acme", GOOD + "@hookimpl(optionalhook=True)\ndef jackfield_of_tomorrow(run): ...\n")
    assert loaded(load())


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ("def jackfield_rewards(registrar): ...", "unknown argument 'registrar'; the hook is jackfield_rewards(register)"),
        ("def jackfield_rewards(): ...", "the argument 'register' is missing; the hook is jackfield_rewards(register)"),
        ("def jackfield_step_end(run, reprot): ...", "unknown argument 'reprot'; the hook is jackfield_step_end(run, report)"),
        ("def jackfield_step_end(run, extra=1): ...", "unknown argument 'extra'; the hook is jackfield_step_end(run, report)"),
        ("def jackfield_step_end(run, *, report): ...", "the argument 'report' must be plain, without default"),
        ("def jackfield_step_end(run=None): ...", "the argument 'run' must be plain, without default"),
        ("def jackfield_step_end(**rest): ...", "unknown argument 'rest'"),
    ],
)
def test_wrong_arguments_are_named(install: Install, hook: str, message: str) -> None:
    """P1: plugin, hook, argument, and what the hook has, at load and not at the call."""
    install("acme", f"@hookimpl\n{hook}\n")
    problems = [str(problem) for problem in failure(load()).problems]
    name = hook.removeprefix("def ").partition("(")[0]
    assert any(problem.startswith(f"plugin 'acme' (acme-dist 1.0): {name}: {message}") for problem in problems)


def test_an_observer_may_take_fewer_arguments(install: Install) -> None:
    """A hook may gain arguments later without breaking plugins."""
    install("acme", "seen = []\n@hookimpl\ndef jackfield_step_end(report):\n    seen.append(report)\n")
    plugins = load()
    plugins.tell("jackfield_step_end", run=1, report=2)
    assert plugins.manager.get_plugin("acme").seen == [2]  # type: ignore[union-attr]


@pytest.mark.parametrize("option", ["tryfirst", "trylast", "wrapper", "hookwrapper"])
def test_no_plugin_comes_first(install: Install, option: str) -> None:
    """There is no order between plugins and no wrapping of another's hook."""
    install("acme", f"@hookimpl({option}=True)\ndef jackfield_run_start(run): yield\n")
    assert f"hookimpl({option}=True) is not supported" in only_problem(load())


def test_what_is_named_like_a_hook_but_not_marked_is_no_hook(install: Install) -> None:
    """P3: a module, a class and an unmarked function named like hooks are left alone."""
    site = install(
        "acme", GOOD + "import jackfield_losses_plugin as jackfield_losses\nclass jackfield_tools: ...\ndef jackfield_x(): ...\n"
    )
    (site / "jackfield_losses_plugin.py").write_text("")
    assert loaded(load()).hooks == ("jackfield_rewards",)


def test_a_plugin_without_hooks_is_told_about_the_mark(install: Install) -> None:
    """A forgotten @hookimpl would otherwise be silent."""
    install("acme", "def jackfield_rewards(register): ...\n")
    assert only_problem(load()).endswith("offers nothing: no function is marked @jackfield.hookimpl")


def test_all_problems_of_a_plugin_show_at_once(install: Install) -> None:
    """Two bad hooks are two problems."""
    install("acme", "@hookimpl\ndef jackfield_a(): ...\n@hookimpl\ndef jackfield_check(rcp): ...\n")
    assert [problem.subject for problem in failure(load()).problems] == ["jackfield_a", "jackfield_check"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('register("Polite", "acme_plugin:X", "A reward.")', "rewards.Polite: the name must be lower case with underscores"),
        ('register("a-b", "acme_plugin:X", "A reward.")', "rewards.a-b: the name must be lower case"),
        ('register("polite", "acme_plugin.X", "A reward.")', "the target must be an import string 'package.module:Name', found 'acme_plugin.X'"),
        ('register("polite", object, "A reward.")', "the target must be an import string"),
        ('register("polite", "acme_plugin:X", "")', "the summary must be one line of text"),
        ('[register("polite", "acme_plugin:X", "A reward.") for _ in "12"]', "rewards.polite: offered twice by the same plugin"),
        ('register("polite")', "jackfield_rewards: TypeError"),
        ("1 / 0", "jackfield_rewards: ZeroDivisionError: division by zero"),
    ],
)  # fmt: skip
def test_a_bad_offer_takes_the_whole_plugin_back(install: Install, call: str, message: str) -> None:
    """Names and targets are checked when offered; what the plugin offered before the mistake goes too."""
    good = '@hookimpl\ndef jackfield_losses(register): register("fine", "acme_plugin:X", "A loss.")\n'
    install("acme", f"{good}@hookimpl\ndef jackfield_rewards(register): {call}\n")
    assert message in only_problem(load())


def test_two_plugins_may_offer_one_name(install: Install) -> None:
    """Neither hides the other."""
    install("acme", GOOD)
    install("beta", GOOD)
    plugins = load()
    with pytest.raises(PluginError, match='write use = "acme:politeness" or use = "beta:politeness"'):
        plugins.registries["rewards"].find("politeness")


def test_a_stale_install_is_one_plugin(install: Install) -> None:
    """The same entry point twice, as a renamed distribution leaves it, loads once and is no failure."""
    install("acme", GOOD)
    install("acme", GOOD, dist="old-acme")
    plugins = load()
    assert [plugin.name for plugin in plugins.loaded].count("acme") == 1
    assert all(plugin.name != "acme" for plugin in plugins.failures)


def test_two_plugins_of_one_name_are_both_named(install: Install) -> None:
    """Neither is taken by luck; the message says how to leave one out, and doing so works."""
    install("acme", GOOD)
    install("acme", GOOD, dist="rival", module="rival_plugin", version="2.0")
    assert only_problem(load()) == (
        "plugin 'acme' (acme-dist 1.0): the name is taken twice, by acme_plugin (acme-dist 1.0) and rival_plugin (rival 2.0); "
        "uninstall one, or leave one out: --no-plugin acme=acme_plugin or --no-plugin acme=rival_plugin"
    )
    plugins = load(no_plugins=["acme=rival_plugin"])
    assert loaded(plugins).value == "acme_plugin"
    assert plugins.absent["acme=rival_plugin"] == "disabled by --no-plugin"


def test_one_module_is_not_two_plugins(install: Install) -> None:
    """The second name for the same module is refused with the first."""
    install("acme", GOOD)
    install("beta", GOOD, module="acme_plugin")
    assert only_problem(load(), "beta").endswith("the same object is plugin 'acme' already")


def test_plugins_are_switched_off(install: Install) -> None:
    """By option and by variable; what is off is known as off, and is not imported."""
    install("acme", "1 / 0")
    install("beta", "1 / 0")
    plugins = load_plugins(no_plugins=["acme"], environ={"JACKFIELD_NO_PLUGINS": " beta ,"})
    assert plugins.absent["acme"] == "disabled by --no-plugin"
    assert plugins.absent["beta"] == "disabled by JACKFIELD_NO_PLUGINS"
    assert not {"acme", "beta"} & {plugin.name for plugin in (*plugins.failures, *plugins.loaded)}


def test_the_allow_list_is_exact(install: Install, tmp_path: Path) -> None:
    """Only what is listed is loaded; a file named on the command line is not an installed plugin."""
    install("acme", GOOD)
    install("beta", GOOD)
    file = tmp_path / "mine.py"
    file.write_text("from jackfield import hookimpl\n@hookimpl\ndef jackfield_run_start(run): ...\n")
    plugins = load_plugins(files=[file], environ={"JACKFIELD_PLUGINS": "beta"})
    assert [plugin.name for plugin in plugins.loaded] == ["beta", "mine"]
    assert plugins.absent["acme"] == "not in JACKFIELD_PLUGINS"


def test_unknown_names_in_switches_are_refused_together(install: Install) -> None:
    """A typo must not leave a plugin on; each place is named, with the nearest plugin."""
    install("acme", GOOD)
    with pytest.raises(UserError) as caught:
        load_plugins(no_plugins=["acne"], environ={"JACKFIELD_NO_PLUGINS": "acmee"})
    assert sorted(map(str, caught.value.problems)) == [
        "--no-plugin: acne: no such plugin; did you mean 'acme'?",
        "JACKFIELD_NO_PLUGINS: acmee: no such plugin; did you mean 'acme'?",
    ]
    with pytest.raises(UserError, match="JACKFIELD_PLUGINS: acmee: no such plugin"):
        load_plugins(environ={"JACKFIELD_PLUGINS": "acmee"})


LOCAL = """
from __future__ import annotations
from attrs import frozen
from jackfield import hookimpl

@hookimpl
def jackfield_rewards(register):
    register("polite", f"{__name__}:Polite", "Says please.")

@frozen
class Polite:
    please: str = "please"
"""


def test_a_local_file_is_a_plugin(tmp_path: Path) -> None:
    """Named like the file; its own classes are found under the module name it was imported by; twice is once."""
    file = tmp_path / "mine.py"
    file.write_text(LOCAL)
    plugins = load(files=[file, tmp_path / ".." / tmp_path.name / "mine.py"])
    assert (loaded(plugins, "mine").value, loaded(plugins, "mine").distribution) == (str(file), None)
    entry = plugins.registries["rewards"].find("mine:polite")
    assert entry.load()().please == "please"
    assert (entry.provenance().file, entry.provenance().line) == (str(file), 10)


def test_a_local_file_whose_target_names_the_file_is_told_better(tmp_path: Path) -> None:
    """``"mine:Polite"`` cannot be imported; the message says what to write."""
    file = tmp_path / "mine.py"
    file.write_text(LOCAL.replace('f"{__name__}:Polite"', '"mine:Polite"'))
    with pytest.raises(
        PluginError, match=r'there is no module .mine.; a class of the plugin file itself is written f"{__name__}:Polite"'
    ):
        load(files=[file]).registries["rewards"].find("mine:polite").load()


def test_a_local_file_that_fails_leaves_no_module(tmp_path: Path) -> None:
    """Half a module must not be found by a later import."""
    file = tmp_path / "halfway.py"
    file.write_text("1 / 0\n")
    assert only_problem(load(files=[file]), "halfway") == f"plugin 'halfway' ({file}): ZeroDivisionError: division by zero"
    assert not [name for name in sys.modules if name.endswith("_halfway")]


def test_two_local_files_of_one_name(tmp_path: Path) -> None:
    """The second is refused with the first's path."""
    (tmp_path / "other").mkdir()
    for file in (tmp_path / "mine.py", tmp_path / "other" / "mine.py"):
        file.write_text(LOCAL)
    plugins = load(files=[tmp_path / "mine.py", tmp_path / "other" / "mine.py"])
    (refused,) = [one for one in plugins.failures if one.name == "mine"]
    assert f"the name is taken by {tmp_path / 'mine.py'}" in str(refused.problems[0])
    assert "mine" not in plugins.absent


def test_a_missing_local_file_is_the_users_mistake(tmp_path: Path) -> None:
    """It was asked for by name, so it is not merely noted."""
    with pytest.raises(PluginError, match=r"nope\.py: a plugin file must be a Python file, and there is none of this name"):
        load(files=[tmp_path / "nope.py"])


def test_a_bad_file_name_is_refused(tmp_path: Path) -> None:
    """A plugin's name must be writable in ``use = "plugin:name"``."""
    file = tmp_path / "my plugin.py"
    file.write_text(LOCAL)
    assert "a plugin's name may hold letters" in only_problem(load(files=[file]), "my plugin")


COMMAND = """
@hookimpl
def jackfield_commands(add):
    add("{0}", "Greets.", lambda parser: parser.add_argument("who"), "acme_plugin:greet")

def greet(args): return 7
"""


def test_a_command_is_offered(install: Install) -> None:
    """With its arguments and a target imported when it runs."""
    install("acme", COMMAND.format("greet"))
    command = load().commands.find("greet")
    assert (command.summary, command.distribution) == ("Greets.", "acme-dist")
    assert command.function()(None) == 7  # type: ignore[arg-type]


def test_a_command_with_a_bad_name_is_refused(install: Install) -> None:
    """Names of commands take dashes."""
    install("acme", COMMAND.format("Greet Me"))
    assert "commands.Greet Me: the name must be lower case with dashes" in only_problem(load())
