"""What runs in the separate process: limits first, then the program, then the tests. A script; standard library only.

``harness.py REPORT MEMORY SECONDS OUTPUT script|tests``, in the folder that holds ``program.py``. REPORT is a file descriptor, written
to once before the program starts (``ready``), so that a sandbox that does not work is told from a program that does not.

- ``script``: the program runs as ``__main__`` on the standard input given; REPORT is closed before.
- ``tests``: standard input holds ``{"nonce": …, "source": …}`` and is replaced by nothing. Program and tests share a module. Only when
  the last test is over does the line ``NONCE 1101 FAILURE`` go to REPORT. So printing what success looks like, leaving early by
  ``sys.exit`` or ``os._exit``, changing built-in functions and values that claim to equal everything pass no test. A program that
  searches the interpreter's own frames for the nonce can still find it: tests that must withstand that are written as cases, whose
  outputs never enter this process.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import resource
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

globals()["__builtins__"] = dict(vars(builtins))  # of the functions here: the program changes those of everyone else
SHOWN = 200
EQUALS = "__equals__"


def main() -> None:
    """See the module."""
    report, memory, seconds, output = map(int, sys.argv[1:5])
    mode = sys.argv[5]
    told = json.loads(sys.stdin.read()) if mode == "tests" else {}
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, output),
        (resource.RLIMIT_NOFILE, 64),
    ):
        resource.setrlimit(limit, (value, value))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))  # first a signal that says why, then the one that none survives
    with open("program.py", encoding="utf-8") as file:  # noqa: PTH123  (a bare interpreter starts sooner)
        program = file.read()
    os.write(report, b"ready\n")
    sys.argv = ["program.py"]
    module = sys.modules["__main__"] = types.ModuleType("__main__")  # in place of this one
    if mode == "script":
        os.close(report)
        exec(compile(program, "program.py", "exec", dont_inherit=True), module.__dict__)
        return
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    write, leave = os.write, os._exit  # as they are before the program runs
    passed, failure = _judged(program, list(_tests(told["source"])))
    told_back = f"\n{told['nonce']} {''.join('01'[one] for one in passed)} {' '.join(failure.split())}\n"
    write(report, told_back.encode("utf-8", "backslashreplace"))
    leave(0)  # what the program left behind (threads, exit handlers) has no say any more


Test = tuple[bool, str, types.CodeType]
"""Whether a statement counts as a test, what to call it, its code."""


def is_test(statement: ast.stmt) -> bool:
    """Whether a statement at the top level counts as a test: it runs, and can fail. Functions of that kind are called."""
    if isinstance(statement, ast.FunctionDef):
        given = statement.args.posonlyargs or statement.args.args or statement.args.kwonlyargs
        return statement.name.startswith("test") and not given and any(map(_can_fail, statement.body))
    return _can_fail(statement)


BLOCKS = (ast.For, ast.While, ast.If, ast.Try, ast.TryStar, ast.ExceptHandler, ast.Match, ast.match_case)


def _can_fail(node: ast.AST) -> bool:
    """Whether it says what should be: an assert, a call, ``raise`` or ``with`` (such as ``raises``), or a block that holds one. A text, a
    constant, a bare comparison and ``print`` say nothing."""
    if isinstance(node, ast.Assert):
        test = node.test
        return not (test.value if isinstance(test, ast.Constant) else test.elts if isinstance(test, ast.Tuple) else None)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call) and ast.unparse(node.value.func) != "print"
    if isinstance(node, ast.If) and _is_main(node.test):
        return any(map(_can_fail, node.orelse))
    return isinstance(node, ast.Raise | ast.With) or (isinstance(node, BLOCKS) and any(map(_can_fail, ast.iter_child_nodes(node))))


def _is_main(test: ast.expr) -> bool:
    """Tests run in the module of the program, which is no main program."""
    return ast.unparse(test) in ("__name__ == '__main__'", "'__main__' == __name__")


def _judged(program: str, tests: list[Test]) -> tuple[list[bool], str]:
    """Which tests pass, and the first thing that failed. Where the program fails, or what the tests stand on, none passes."""
    none = [False] * sum(counts for counts, _, _ in tests)
    module = types.ModuleType("program")
    sys.modules["program"] = module
    own = dict(vars(builtins))
    failure = _failure(lambda: exec(compile(program, "program.py", "exec", dont_inherit=True), module.__dict__), "the program")
    passed: list[bool] = []
    for counts, title, code in () if failure else tests:
        vars(builtins).update(own)
        module.__dict__[EQUALS] = _equals
        fault = _failure(lambda code=code: exec(code, module.__dict__), title)  # type: ignore[misc]
        failure = failure or fault
        if counts:
            passed.append(not fault)
        elif fault:
            return none, fault
    vars(builtins).update(own)
    return passed or none, failure


def _tests(source: str) -> Iterator[Test]:
    for statement in ast.parse(source).body:
        title = ast.unparse(statement).splitlines()[0].removeprefix("assert ")[:SHOWN]
        body: list[ast.stmt] = [statement]
        if isinstance(statement, ast.FunctionDef) and is_test(statement):
            title = statement.name
            body.append(ast.Expr(ast.Call(ast.Name(statement.name, ast.Load()), [], [])))
        tree = ast.fix_missing_locations(_ExactEquality().visit(ast.Module(body, [])))
        yield is_test(statement), title, compile(tree, "tests.py", "exec", dont_inherit=True)


class _ExactEquality(ast.NodeTransformer):
    """``assert a == b`` asks ``_equals``, which says what was found."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            sides: list[ast.expr] = [test.left, test.comparators[0]]
            node.test = ast.Call(ast.Name(EQUALS, ast.Load()), sides, [])
        return node


class _Nothing:
    """Equals nothing but itself."""


def _equals(left: Any, right: Any) -> Any:
    """``left == right``. Raises AssertionError with the values where they differ, and for a value that equals everything."""
    result = left == right
    if not result:
        raise AssertionError(f"found {_shown(left)}, expected {_shown(right)}")
    for side in (left, right):
        if not isinstance(type(side).__eq__, types.WrapperDescriptorType) and _equals_nothing(side):
            raise AssertionError(f"an object of class {type(side).__name__} that equals everything")
    return result


def _equals_nothing(value: object) -> bool:
    try:
        return bool(value == _Nothing())
    except Exception:  # an honest ``self.x == other.x`` fails on what has no x
        return False


def _shown(value: object) -> str:
    try:
        return repr(value)[:SHOWN]
    except Exception:
        return f"an object of class {type(value).__name__}"


def _failure(call: Callable[[], object], what: str) -> str:
    """What ``call`` raised, in one line; empty if nothing. Leaving early is a failure too."""
    try:
        call()
    except BaseException as error:  # SystemExit and KeyboardInterrupt are the program's doing as well
        try:
            return f"{what}: {_told(error)[:SHOWN]}"
        except BaseException:  # so is whatever its exception does when asked for its class or text
            return f"{what}: an exception that cannot be shown"
    return ""


def _told(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    if isinstance(error, AssertionError):
        return text or "is not so"
    return f"{type(error).__name__}{': ' if text else ''}{text}"


if __name__ == "__main__":
    main()
