"""What the package holds, read out of its wheel as a zip file: exercises, their checks and their solutions. Nothing of it is run.

pythonlings (MIT). An exercise is a program with gaps under a comment that says what to do; its check is Python that asserts, to be run
in the module of the finished program.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from attrs import frozen

REQUIREMENT = "pythonlings==0.4.4"
SHA256 = "257c67480378df56b56176316725ee92f477424d8e2a11a9dae432ce81850881"

_ROOT = "pythonlings/curriculum"
_HEADER = re.compile(r"\A(?:#.*\n)+")
_NOT_TASK = re.compile(r"Exercise: .*|-+|I AM NOT DONE")
"""Lines of the comment at the top that say nothing of what to do."""
_UNFIT_MODULES = frozenset({"inspect", "os", "sys"})
_UNFIT_NAMES = frozenset({"globals", "exec", "open", "__file__"})
"""What a check must not use: it would read the program's source, which needs a file, or touch the disk or the interpreter."""


@frozen(kw_only=True)
class Exercise:
    """Example: ``Exercise(name="functions3", topic="functions", statement="Define a function …", start="def double(): …",
    tests="assert double(3) == 6", solution="def double(n): …")``"""

    name: str
    topic: str
    statement: str
    start: str
    """The program with its gaps."""
    tests: str
    """Python that asserts, for the module of the finished program."""
    solution: str


def read(wheel: Path) -> list[Exercise]:
    """The exercises whose check needs nothing but the finished program's names, in the package's order."""
    with ZipFile(wheel) as archive:

        def text(name: str) -> str:
            return archive.read(f"{_ROOT}/{name}").decode()

        solutions = _solutions(text("solutions/_answers.py"))
        listed = tomllib.loads(text("info.toml"))["exercises"]
        return [
            _exercise(row["name"], row["path"], text(row["path"]), ast.parse(check), solutions[row["name"]])
            for row in listed
            if _is_fit(
                ast.parse(check := text(f"checks/{row['path'].removeprefix('exercises/')}")), ast.parse(solutions[row["name"]])
            )
        ]


def defined(exercise: Exercise) -> frozenset[str]:
    """The functions and classes that the solution defines."""
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return frozenset(node.name for node in ast.parse(exercise.solution).body if isinstance(node, definitions))


def _exercise(name: str, path: str, source: str, check: ast.Module, solution: str) -> Exercise:
    found = _HEADER.match(source)
    header = found[0] if found else ""
    lines = [line.removeprefix("#").removeprefix(" ").rstrip() for line in header.splitlines()]
    return Exercise(
        name=name,
        topic=PurePosixPath(path).parent.name,
        statement="\n".join(line for line in lines if not _NOT_TASK.fullmatch(line)).strip(),
        start=source[len(header) :].strip(),
        tests="\n".join(ast.unparse(statement) for statement in check.body if not _is_print(statement)),
        solution=solution.strip(),
    )


def _is_fit(check: ast.Module, solution: ast.Module) -> bool:
    """The check needs the program's names alone, and the program need not be the main one."""
    nodes = list(ast.walk(check))
    if any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(solution)):
        return False
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return not modules & _UNFIT_MODULES and not names & _UNFIT_NAMES


def _is_print(statement: ast.stmt) -> bool:
    """A check ends with a line such as ``print("functions3 ✓")``: no test, and it fails where standard output is ASCII."""
    called = statement.value.func if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == "print"


def _solutions(source: str) -> Mapping[str, str]:
    """The literal assigned to ``ANSWERS``: name → program."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.target.id == "ANSWERS":
            solutions: dict[str, str] = ast.literal_eval(statement.value or ast.Constant(None))
            return solutions
    raise ValueError("the package has no ANSWERS")
