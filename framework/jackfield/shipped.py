"""The recipes that come with Jackfield. Imports nothing, so that listing them is quick."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_FOLDERS = (Path(__file__).with_name("recipes"), Path(__file__).parents[2] / "recipes")
"""In an installed package, and in a checkout."""


def shipped() -> Mapping[str, Path]:
    """Name → file."""
    return {file.stem: file for folder in _FOLDERS for file in sorted(folder.glob("*.toml"))}
