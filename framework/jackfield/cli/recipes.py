"""``jackfield recipes``: what comes with Jackfield, by the names that ``run``, ``check``, ``extends`` and ``from`` take."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jackfield.cli.columns import columns
from jackfield.shipped import shipped

if TYPE_CHECKING:
    from jackfield.plugins import Plugins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(args: argparse.Namespace, plugins: Plugins) -> int:  # noqa: ARG001
    """Print their names and titles."""
    rows = [(name, _title(tomllib.loads(file.read_text(encoding="utf-8")))) for name, file in sorted(shipped().items())]
    print("\n".join(columns([("RECIPE", "TITLE"), *rows])))
    return 0


def _title(recipe: Mapping[str, Any]) -> str:
    return str(recipe.get("title", f"a grid of {len(recipe.get('cells', ()))} recipes, for jackfield compare"))
