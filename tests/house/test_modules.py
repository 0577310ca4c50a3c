"""Rooms of the house: small, named after what is in them, all of them entered by some test, and without traces of a machine."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [ROOT / "framework", ROOT / "plugins"]
FILES = sorted(file for source in SOURCES for file in source.rglob("*.py"))
LONGEST = 350
LONGER = {"framework/jackfield/stages.py": 425}
"""The map of every part is one file, so that it can be read from top to bottom."""
NAMELESS = re.compile(r"_?(utils?|common|base|helpers?|misc|tools?_?box)")
"""What says nothing of what is in it. (A folder of recipes to extend may well be called bases.)"""
MACHINE_PATH = re.compile(r"(?<![\w.~<])/(?:home|root|Users|mnt|tmp|work)/\w")


def _name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def _module(file: Path) -> str:
    source = next(source for source in SOURCES if file.is_relative_to(source))
    parts = file.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("file", FILES, ids=_name)
def test_a_module_imports_and_is_small(file: Path) -> None:
    """It imports where everything is installed, says what it is, and can be read in one go."""
    module = importlib.import_module(_module(file)) if file.stem != "__main__" else None
    assert module is None or module.__doc__
    assert file.read_text().count("\n") <= LONGER.get(_name(file), LONGEST)
    assert not NAMELESS.fullmatch(file.stem)


def _undocumented(tree: ast.Module) -> Iterator[str]:
    """Public functions and classes of a module; hook implementations are documented where the hook is specified."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node) and "hookimpl" not in map(ast.unparse, node.decorator_list):
            yield node.name


@pytest.mark.parametrize("file", FILES, ids=_name)
def test_what_is_public_is_documented(file: Path) -> None:
    """Module, classes and functions; methods of a protocol are documented once, in the protocol."""
    tree = ast.parse(file.read_text())
    assert ast.get_docstring(tree)
    assert not list(_undocumented(tree))


def test_the_finder_of_what_lacks_a_docstring() -> None:
    """It looks at functions and classes, not at private ones nor at hooks."""
    tree = ast.parse("def f(): ...\nclass C: ...\ndef _g(): ...\n@hookimpl\ndef jackfield_x(): ...\ndef h(): 'says it'\n")
    assert list(_undocumented(tree)) == ["f", "C"]


def test_no_path_of_a_machine_is_tracked() -> None:
    """Nothing that only exists where it was written."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    found = {}
    for name in filter(None, tracked.stdout.split("\0")):
        file = ROOT / name
        if file.is_file() and file != Path(__file__).resolve():
            hits = MACHINE_PATH.findall(file.read_text(encoding="utf-8", errors="ignore"))
            if hits:
                found[name] = hits
    assert not found
