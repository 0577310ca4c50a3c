"""A function of the user by name: ``package.module:name``, or ``file.py:name``. Looked up without running it, imported when it is needed."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import sys
import sysconfig
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from attrs import frozen

from jackfield.errors import UserError, nearest


@frozen
class Source:
    """Where a function stands. ``written`` is a path as recipes resolve it, ``FOLDER/mine.py:score`` or ``FOLDER/package.module:score``.

    What stands before the last colon is a file if it ends in ``.py``, else a module, of which FOLDER is no part.
    """

    written: str

    @property
    def name(self) -> str:
        """Of the function."""
        return self.written.rpartition(":")[2]

    @property
    def file(self) -> Path | None:
        """None for a module."""
        path = Path(self.written.rpartition(":")[0])
        return path if path.suffix == ".py" else None

    @property
    def module(self) -> str:
        """The module's name as imports know it."""
        return Path(self.written.rpartition(":")[0]).name

    def __str__(self) -> str:
        return f"{self.file.name if self.file else self.module}:{self.name}"

    def problem(self) -> str | None:
        """What is wrong with it as far as its text tells; nothing of it is run (but for the packages around a module)."""
        file = self.file
        if file is None:
            try:
                spec = importlib.util.find_spec(self.module)
            except (ImportError, ValueError) as error:
                return f"there is no module '{self.module}': {error}{self._file_beside()}"
            if spec is None:
                return f"there is no module '{self.module}'{self._file_beside()}"
            if spec.origin is None or not spec.origin.endswith(".py"):
                return None
            file = Path(spec.origin)
        if not file.is_file():
            return f"there is no file {file}"
        try:
            tree = ast.parse(file.read_bytes(), filename=str(file))
        except (SyntaxError, ValueError) as error:
            return f"{file}:{getattr(error, 'lineno', None) or 1}: {getattr(error, 'msg', error)}"
        names = set(_bound(tree))
        return None if self.name in names or "*" in names else f"{file} has no '{self.name}'{nearest(self.name, names)}"

    @property
    def local_file(self) -> Path | None:
        """The file it stands in, unless that was installed."""
        if self.file is not None:
            return self.file
        try:
            spec = importlib.util.find_spec(self.module)
        except (ImportError, ValueError):
            return None
        if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
            return None
        installed = (sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib"))
        return None if any(Path(spec.origin).is_relative_to(folder) for folder in installed) else Path(spec.origin)

    def load(self) -> Callable[..., Any]:
        """The function. Raises UserError if it is not there."""
        if wrong := self.problem():
            raise UserError(wrong)
        module = importlib.import_module(self.module) if self.file is None else _import_file(self.file)
        function = getattr(module, self.name)
        if not callable(function):
            raise UserError(f"{self} is not a function but {function!r}")
        return function  # type: ignore[no-any-return]

    def _file_beside(self) -> str:
        beside = Path(self.written).with_name(f"{self.module}.py")
        return f'; for the file beside the recipe write "./{beside.name}:{self.name}"' if beside.is_file() else ""


def _bound(tree: ast.Module) -> Iterator[str]:
    """Names that a module binds at its top level, also within ``if`` and ``try``; ``*`` where it cannot be told."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _import_file(file: Path) -> Any:
    """By path, under a name that no installed module can have; once."""
    name = f"jackfield_function_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}_{file.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert isinstance(spec, ModuleSpec)
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: its dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
