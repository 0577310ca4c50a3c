"""``jackfield plugins``: what was found, what it offers, and what is wrong with the rest."""

from __future__ import annotations

import argparse
from collections import Counter

from jackfield.cli.columns import columns
from jackfield.plugins import Failure, Loaded, Plugins, Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("-v", "--verbose", action="store_true", help="also hooks, modules and whole tracebacks")


def run(args: argparse.Namespace, plugins: Plugins) -> int:
    """Print the list."""
    rows = [(plugin.name, _brought_by(plugin), _offers(plugin, plugins)) for plugin in plugins.loaded]
    print("\n".join(columns([("PLUGIN", "FROM", "OFFERS"), *rows]) if rows else ["no plugin is loaded"]))
    if args.verbose:
        print("\nhooks")
        details = [(plugin.name, plugin.value, ", ".join(plugin.hooks)) for plugin in plugins.loaded]
        print("\n".join(columns(details, indent=2)))
    for failure in plugins.failures:
        print("\n" + "\n".join(_failure(failure, args.verbose)))
    disabled = [(name, why) for name, why in plugins.absent.items() if name not in {failure.name for failure in plugins.failures}]
    if disabled:
        print("\nnot loaded\n" + "\n".join(columns(disabled, indent=2)))
    return 0


def _brought_by(source: Source) -> str:
    return f"{source.distribution} {source.version}" if source.distribution else source.value


def _offers(plugin: Loaded, plugins: Plugins) -> str:
    """``"2 losses, 1 critics, 3 observers"``-like, or what else it does."""
    counts = Counter(entry.kind for entry in plugin.entries)
    counts["commands"] = sum(command.plugin == plugin.name for command in plugins.commands.entries)
    offered = [f"{kind}: {number}" for kind, number in counts.items() if number]
    offered += [
        hook
        for hook in plugin.hooks
        if hook in ("jackfield_check", "jackfield_run_start", "jackfield_step_end", "jackfield_run_end")
    ]
    return ", ".join(offered) or "nothing"


def _failure(failure: Failure, verbose: bool) -> list[str]:
    lines = [f"failed to load: {failure.label}"]
    for problem in failure.problems:
        lines += [f"  {line}" for line in f"{problem.subject + ': ' if problem.subject else ''}{problem.message}".splitlines()]
    if verbose and failure.traceback:
        lines += [f"    {line}" for line in failure.traceback.splitlines()]
    elif failure.traceback:
        lines.append("  the whole traceback: jackfield plugins --verbose")
    return lines
