"""``jackfield components [KIND]``: what recipes can name."""

from __future__ import annotations

import argparse

from jackfield.cli.columns import columns
from jackfield.errors import UserError, nearest
from jackfield.plugins import Plugins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("kind", nargs="?", metavar="KIND", help="only this kind, e.g. losses")


def run(args: argparse.Namespace, plugins: Plugins) -> int:
    """Print them by kind; a name that two plugins offer is printed as a recipe must write it."""
    if args.kind is not None and args.kind not in plugins.registries:
        raise UserError(f"there is no kind of component '{args.kind}'{nearest(args.kind, plugins.registries)}")
    rows = []
    for kind, registry in plugins.registries.items():
        if args.kind in (None, kind):
            names = [entry.name for entry in registry.entries]
            for entry in registry.entries:
                name = entry.name if names.count(entry.name) == 1 else entry.qualified
                rows.append((kind, name, entry.plugin, entry.summary))
    print("\n".join(columns([("KIND", "NAME", "PLUGIN", "WHAT IT IS"), *rows])))
    return 0
