"""``jackfield COMMAND``: finds the command, loads the plugins, runs it, and turns errors into messages and exit codes.

0: done; 1: our error, with traceback; 2: the user's mistake, one clean line a problem; 130: Ctrl-C.
Nothing heavy is imported here: a command's module is imported when that command is asked for.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn

from attrs import frozen

from jackfield import __version__
from jackfield.cli.columns import columns
from jackfield.errors import Interrupted, UserError, nearest
from jackfield.plugins import Plugins, load_plugins


@frozen
class Builtin:
    """A command of the core; ``module`` is imported when it is asked for."""

    name: str
    summary: str
    module: str
    prints: bool = True
    """All it does is print: when its reader goes away (``| head -1``), it has done enough."""


COMMANDS = (
    Builtin("run", "Run a recipe.", "jackfield.cli.run", prints=False),
    Builtin("recipes", "List the recipes that come with Jackfield.", "jackfield.cli.recipes"),
    Builtin("check", "Check a recipe without running it: the corridor, memory and batch arithmetic.", "jackfield.cli.check"),
    Builtin("show", "Read a run's rollouts: who wrote what, rewards and their reasons.", "jackfield.cli.show"),
    Builtin("eval", "Evaluate a checkpoint, with intervals, and against another.", "jackfield.cli.eval", prints=False),
    Builtin("compare", "Set runs side by side; run the recipes that have not run yet.", "jackfield.cli.compare", prints=False),
    Builtin("plugins", "List the plugins found, and what is wrong with those that failed.", "jackfield.cli.plugins"),
    Builtin("components", "List the components that recipes can name.", "jackfield.cli.components"),
    Builtin(
        "explain",
        "Explain a component, a table of a recipe or a plugin: keys, defaults, where it comes from.",
        "jackfield.cli.explain",
    ),
)

Command = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """Reports wrong usage as every other mistake of the user is reported."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (see {self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except UserError as error:
        for problem in error.problems:
            print(f"jackfield: {problem}", file=sys.stderr)
        return 2
    except Interrupted as stopped:
        print(stopped, flush=True)
        return 130
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the interpreter would complain as it ends
        name = next((word for word in arguments if not word.startswith("-")), None)
        if name is None or name in {builtin.name for builtin in COMMANDS if builtin.prints}:
            return 0
        print("jackfield: stopped, for nobody reads what it prints any more", file=sys.stderr)
        return 1
    except Exception:
        traceback.print_exc()
        return 1


def _dispatch(argv: list[str]) -> int:
    switches = Parser(prog="jackfield", add_help=False, allow_abbrev=False)
    _add_switches(switches)
    options, rest = switches.parse_known_args(argv)
    if rest == ["--version"]:
        print(f"jackfield {__version__}")
        return 0
    plugins = load_plugins(no_plugins=options.no_plugin, files=options.plugin)
    if rest[:1] != ["plugins"]:  # which shows them in full
        _warn(plugins)
    if not rest or rest[0].startswith("-"):
        parser = _overview(plugins)
        if not rest:
            parser.print_help(sys.stderr)
            return 2
        return _parse(parser, rest, lambda _: 0)
    name, *arguments = rest
    parser = Parser(prog=f"jackfield {name}", formatter_class=argparse.RawDescriptionHelpFormatter)
    command = _prepare(name, parser, plugins)
    _add_switches(parser.add_argument_group("plugins"))
    parser.set_defaults(argv=argv)
    return _parse(parser, arguments, command)


def _parse(parser: Parser, arguments: list[str], command: Command) -> int:
    try:
        args = parser.parse_args(arguments)
    except SystemExit as end:  # --help was printed
        return int(end.code or 0)
    return command(args)


def _prepare(name: str, parser: Parser, plugins: Plugins) -> Command:
    """Give ``parser`` the arguments of the named command, and give back what runs it. The core's commands keep their bare names."""
    for builtin in COMMANDS:
        if builtin.name == name:
            module = importlib.import_module(builtin.module)
            parser.description = builtin.summary
            module.add_arguments(parser)
            return lambda args: int(module.run(args, plugins))
    known = [builtin.name for builtin in COMMANDS] + [entry.name for entry in plugins.commands.entries]
    if ":" not in name and name not in known:
        raise UserError(f"unknown command '{name}'{nearest(name, known)}")
    entry = plugins.commands.find(name)
    parser.description = entry.summary
    parser.set_defaults(plugins=plugins)
    entry.arguments(parser)
    return lambda args: int(entry.function()(args))


def _overview(plugins: Plugins) -> Parser:
    rows = [(builtin.name, builtin.summary) for builtin in COMMANDS]
    names = [name for name, _ in rows] + [entry.name for entry in plugins.commands.entries]
    for entry in plugins.commands.entries:
        rows.append((entry.name if names.count(entry.name) == 1 else entry.qualified, entry.summary))
    parser = Parser(
        prog="jackfield",
        usage="jackfield COMMAND [options]",
        description="Reinforcement learning of language models from parts that plug together.",
        epilog="commands (jackfield COMMAND --help says more):\n" + "\n".join(columns(rows, indent=2)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    _add_switches(parser)
    return parser


def _add_switches(parser: argparse._ActionsContainer) -> None:
    """The options that every command has. They are taken out of the command line before the command sees it."""
    parser.add_argument(
        "--plugin", metavar="FILE", action="append", default=[], help="also load this Python file of hooks (may repeat)"
    )
    parser.add_argument("--no-plugin", metavar="NAME", action="append", default=[], help="do without this plugin (may repeat)")


def _warn(plugins: Plugins) -> None:
    for failure in plugins.failures:
        print(f"jackfield: warning: {failure.label} failed to load (see jackfield plugins)", file=sys.stderr)
