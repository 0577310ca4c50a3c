"""The command line: which command, which plugins, which exit code, and what the user reads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jackfield import __version__
from jackfield.cli import main as cli

Install = Callable[..., Path]
Captured = pytest.CaptureFixture[str]

COMMANDS = """
@hookimpl
def jackfield_commands(add):
    add("greet", "Greets.", lambda parser: parser.add_argument("who"), "acme_plugin:greet")
    add("run", "Not the core's.", lambda parser: None, "acme_plugin:own_run")

def greet(args):
    print(f"hello {args.who}", sorted(plugin.name for plugin in args.plugins.loaded if plugin.name == "acme"))
    return 5

def own_run(args): return 6
"""


def test_help_lists_every_command(install: Install, capsys: Captured) -> None:
    """The core's and the plugins' commands stand in one list; one that shares the core's name is listed qualified."""
    install("acme", COMMANDS)
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    for line in (*(f"  {c.name} " for c in cli.COMMANDS), "  greet ", "  acme:run ", "--no-plugin NAME"):
        assert line in out


def test_no_command_prints_the_help(capsys: Captured) -> None:
    """With the exit code of a mistake."""
    assert cli.main([]) == 2
    assert "commands (" in capsys.readouterr().err


def test_version(capsys: Captured) -> None:
    """One line."""
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"jackfield {__version__}\n"


def test_a_plugins_command_runs(install: Install, capsys: Captured) -> None:
    """It gets its arguments and the loaded plugins, and its exit code is the command's; the core keeps its own names."""
    install("acme", COMMANDS)
    assert cli.main(["greet", "you"]) == 5
    assert capsys.readouterr().out == "hello you ['acme']\n"
    assert cli.main(["acme:run"]) == 6


def test_commands_of_one_name_must_be_qualified(install: Install, capsys: Captured) -> None:
    """The message is what to type."""
    install("acme", COMMANDS)
    install("beta", COMMANDS)
    assert cli.main(["greet", "you"]) == 2
    assert "write jackfield acme:greet or jackfield beta:greet" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["componets"], "jackfield: unknown command 'componets'; did you mean 'components'?\n"),
        (["components", "loses"], "jackfield: there is no kind of component 'loses'; did you mean 'losses'?\n"),
        (["components", "--bad"], "jackfield: unrecognized arguments: --bad (see jackfield components --help)\n"),
        (["--bad"], "jackfield: unrecognized arguments: --bad (see jackfield --help)\n"),
        (["components", "--plugin"], "jackfield: argument --plugin: expected one argument (see jackfield --help)\n"),
    ],
)
def test_a_mistake_is_one_clean_line(capsys: Captured, argv: list[str], message: str) -> None:
    """No traceback, no usage block, exit code 2."""
    assert cli.main(argv) == 2
    assert capsys.readouterr().err.endswith(message)


@pytest.mark.parametrize("place", ["before", "after"])
def test_plugin_switches_stand_anywhere(install: Install, tmp_path: Path, capsys: Captured, place: str) -> None:
    """Before or after the command's name."""
    install("acme", COMMANDS)
    file = tmp_path / "mine.py"
    file.write_text("from jackfield import hookimpl\n@hookimpl\ndef jackfield_run_start(run): ...\n")
    switches = ["--plugin", str(file), "--no-plugin=acme"]
    assert cli.main([*switches, "plugins"] if place == "before" else ["plugins", *switches]) == 0
    out = capsys.readouterr().out
    assert f"{file}  jackfield_run_start" in out
    assert "acme  disabled by --no-plugin" in out


def test_a_failed_plugin_is_mentioned_and_stops_nothing(install: Install, capsys: Captured) -> None:
    """On stderr, so that stdout can be piped."""
    install("acme", "1 / 0")
    assert cli.main(["components"]) == 0
    captured = capsys.readouterr()
    assert "jackfield: warning: plugin 'acme' (acme-dist 1.0) failed to load (see jackfield plugins)\n" in captured.err
    assert "acme" not in captured.out


@pytest.mark.parametrize(
    ("error", "code", "shown"), [("KeyboardInterrupt()", 130, ""), ("ValueError('ours')", 1, "ValueError: ours")]
)
def test_exit_codes(install: Install, capsys: Captured, error: str, code: int, shown: str) -> None:
    """Ctrl-C is 130 and silent; our error is 1 with its traceback."""
    install("acme", COMMANDS + f"def greet(args): raise {error}\n")
    assert cli.main(["greet", "you"]) == code
    err = capsys.readouterr().err
    assert ("Traceback" in err) == (code == 1)
    assert shown in err


def test_python_dash_m() -> None:
    """``python -m jackfield`` is the command, exit code included."""
    done = subprocess.run([sys.executable, "-m", "jackfield", "chekc"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith("jackfield: unknown command 'chekc'; did you mean 'check'?\n")


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [("components", 0, ""), ("recipes", 0, ""), ("greet", 1, "jackfield: stopped, for nobody reads what it prints any more\n")],
)
def test_a_reader_that_goes_away_is_no_error(install: Install, command: str, code: int, told: str) -> None:
    """``jackfield components | head -1`` ends quietly; what does more than print says that it was not done."""
    site = install("acme", COMMANDS)
    script = (
        f"import os, sys; sys.path.insert(0, {str(site)!r}); from jackfield.cli.main import main; "
        f"r, w = os.pipe(); os.dup2(w, 1); os.close(w); os.close(r); sys.exit(main([{command!r}, *{['you'] if code else []}]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, told)
