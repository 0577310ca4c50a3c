from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from jackfield_code import sandbox
from jackfield_code.sandbox import Limits, Ran, SandboxFailure, run_script, run_tests

LIMITS = Limits(seconds=60, memory=1 << 30, output=1 << 16)
QUICK = Limits(seconds=4, memory=1 << 30, output=1 << 16)
RIGHT = "def add(a, b):\n    return a + b\n"
TESTS = "assert add(2, 3) == 5\nassert add(0, 0) == 0\n"

WRITES_EVERYWHERE = r"""
import os
for fd in range(64):
    try:
        os.write(fd, b"\n" + b"0" * 32 + b" 11 \n")
    except OSError:
        pass
os._exit(0)
"""

PATCHES_IN_A_TEST = """
import builtins
class Yes:
    def __eq__(self, other):
        builtins.isinstance = lambda *a: True
        builtins.bool = lambda *a: False
        return True
def add(a, b): return Yes()
"""


def judged(program: str, source: str = TESTS) -> Ran:
    return run_tests(program, source, LIMITS)


def test_tests() -> None:
    """Each statement that tests is counted, and the first that fails is told with what was found."""
    assert judged(RIGHT).passed == (True, True)
    half = judged("def add(a, b): return 5")
    assert half.passed == (True, False)
    assert half.failure == "add(0, 0) == 0: found 5, expected 0"


def test_kinds_of_tests() -> None:
    """Test functions are called; helpers, imports and values are no tests but must work; a script's main part does not run."""
    source = "import math\n\ndef test_one():\n    assert math.isclose(add(0.1, 0.2), 0.3)\n\nfor a in range(3):\n    assert add(a, 1) == a + 1\n"
    assert judged(RIGHT, source).passed == (True, True)
    told = "'Of sums.'\nprint(add(1, 1))\nassert add(1, 1) == 3\nif __name__ == '__main__':\n    assert add(1, 1) == 2\n"
    assert judged(RIGHT, told).passed == (False,)
    assert judged(RIGHT + "if __name__ == '__main__':\n    raise SystemExit(3)\n").passed == (True, True)
    broken = judged(RIGHT, "candidate = sub\nassert candidate(1, 1) == 0")
    assert (broken.passed, broken.failure) == ((False,), "candidate = sub: NameError: name 'sub' is not defined")


@pytest.mark.parametrize(
    "program",
    [
        "import sys; sys.exit(0)",
        "import os; os._exit(0)",
        "def add(a, b):\n    import os\n    os._exit(0)",
        "def add(a, b):\n    raise SystemExit(0)",
        "print('ready'); print('2 of 2 tests passed')",
        WRITES_EVERYWHERE,
        "class Yes:\n    def __eq__(self, other): return True\ndef add(a, b): return Yes()",
        "class Yes:\n    __eq__ = classmethod(lambda cls, other: True)\ndef add(a, b): return Yes()",
        PATCHES_IN_A_TEST,
        "class Yes(int):\n    def __eq__(self, other): return True\n    __hash__ = None\ndef add(a, b): return Yes(7)",
        "import __main__\n__main__._equals = __main__._failure = lambda *a: ''\ndef add(a, b): return 7",
        "def __equals__(a, b): return True\ndef add(a, b): return 7",
        "import builtins\nbuiltins.AssertionError = builtins.isinstance = lambda *a: False\ndef add(a, b): return 7",
        "import json, atexit\njson.dumps = lambda *a, **k: '[true, true]'\natexit.register(print, 'passed')\ndef add(a, b): return 7",
        "import sys\nsys.excepthook = lambda *a: None\nraise ValueError",
        "import os\nif os.fork():\n    os._exit(0)\ndef add(a, b): return 7",
    ],
)
def test_no_trick_passes(program: str) -> None:
    """S4: leaving early, printing or writing success anywhere, values that equal everything, and patched functions pass no test."""
    assert not any(judged(program).passed or ())


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("def __eq__(self, other): raise ValueError('odd')", "ValueError: odd"),
        ("def __eq__(self, other): raise SystemExit", "SystemExit"),
        ("def __eq__(self, other): return self\n    def __bool__(self): raise ValueError('odd')", "ValueError: odd"),
        ("def __repr__(self): raise ValueError", "found an object of class Odd, expected 5"),
        ("def __repr__(self): raise SystemExit", "SystemExit"),
    ],
)
def test_what_a_value_raises_is_a_failed_test(body: str, told: str) -> None:
    """Where it is compared, asked for its truth or shown: this test fails, the others count."""
    ran = judged(f"class Odd:\n    {body}\ndef add(a, b): return Odd() if a else 0")
    assert (ran.exit_code, ran.passed, ran.failure) == (0, (False, True), f"add(2, 3) == 5: {told}")


@pytest.mark.parametrize(
    "odd",
    [
        "class Odd(Exception):\n    def __str__(self): raise SystemExit(0)",
        "class Odd(Exception):\n    @property\n    def __class__(self): raise ValueError",
        "class Meta(type):\n    @property\n    def __name__(self): raise ValueError\nclass Odd(Exception, metaclass=Meta): ...",
    ],
)
def test_an_exception_that_cannot_be_shown_is_a_failed_test(odd: str) -> None:
    """It does not end the others; one with a name longer than a pipe holds is cut."""
    ran = judged(f"{odd}\ndef add(a, b):\n    if a: raise Odd\n    return 0")
    assert (ran.passed, ran.failure) == ((False, True), "add(2, 3) == 5: an exception that cannot be shown")
    ran = judged("def add(a, b):\n    if a: raise type('E' * 200_000, (Exception,), {})\n    return 0")
    assert (ran.passed, ran.failure) == ((False, True), f"add(2, 3) == 5: {'E' * 200}")


def test_equality_that_only_knows_its_own_kind_passes() -> None:
    """Values are also compared with one of another class; that this fails is no fault of theirs."""
    program = "class P:\n    def __init__(self, x): self.x = x\n    def __eq__(self, other): return self.x == other.x\n"
    ran = judged(program, "assert P(1) == P(1)\nassert P(1) == P(2)")
    assert ran.passed == (True, False)


def test_builtin_functions_are_restored() -> None:
    """What the program did to built-in functions does not reach the tests."""
    assert not any(
        judged("import builtins\nbuiltins.len = lambda x: 3\ndef add(a, b): return []", "assert len(add(1, 2)) == 3").passed or ()
    )


def test_script() -> None:
    """A script reads its input and its output is taken; where it breaks off the last line of its traceback is told."""
    ran = run_script("print(sum(map(int, input().split())))", "2 3\n", LIMITS)
    assert (ran.exit_code, ran.stdout) == (0, "5\n")
    assert run_script("1 / 0", "", LIMITS).fault == "ZeroDivisionError: division by zero"
    assert run_script("import sys; sys.exit(3)", "", LIMITS).fault == "exit code 3"
    assert run_script("import os; os.kill(os.getpid(), 9)", "", LIMITS).fault == "was killed by SIGKILL"
    assert run_script("import os; os.kill(os.getpid(), 40)", "", LIMITS).fault == "was killed by signal 40"
    assert run_script("if __name__ == '__main__': print('東京')", "", LIMITS).stdout == "東京\n"


def test_nothing_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the environment nor open files; the folder is its own and gone afterwards; two runs are alike."""
    monkeypatch.setenv("SECRET", "x")
    program = "import os, sys\nprint(sorted(os.environ), os.listdir(), os.getcwd(), hash('a'))\nprint(sys.stdin.read())"
    first, second = (run_script(program, "", LIMITS).stdout for _ in range(2))
    assert "SECRET" not in first
    assert "['program.py']" in first
    folder = first.split("'program.py'] ")[1].split()[0]
    assert not Path(folder).exists()
    assert first.split()[-1] == second.split()[-1]


def test_processor_time_is_limited_too() -> None:
    """Threads or a slow clock do not help: what the processor spent ends the run, and is told as time."""
    program = "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 2))\nwhile True: pass"
    ran = run_script(program, "", Limits(seconds=30, memory=1 << 30, output=1 << 16))
    assert (ran.exit_code, ran.fault) == (-signal.SIGXCPU, "ran out of time")
    limits = run_script("import resource\nprint(resource.getrlimit(resource.RLIMIT_CPU))", "", QUICK)
    assert limits.stdout == "(5, 6)\n"


def test_endless_program_is_killed() -> None:
    """S1: within the limit and a little, with all the processes it started."""
    program = "import os, time\npid = os.fork()\nif pid:\n    open('/proc/self/comm').read(); print(pid, flush=True)\nwhile True:\n    time.sleep(1)"
    start = time.perf_counter()
    ran = run_script(program, "", QUICK)
    assert time.perf_counter() - start < QUICK.seconds + 3
    assert ran.fault == "ran out of time"
    child = int(ran.stdout)
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]:
            break
        time.sleep(0.05)
    else:
        os.kill(child, 9)
        raise AssertionError("the child lives on")


def test_memory_and_output_are_limited() -> None:
    """S3: 50 GB are refused, an endless print ends, and only this program fails."""
    assert run_script("x = bytearray(50 << 30)", "", LIMITS).fault == "MemoryError"
    assert judged("x = bytearray(50 << 30)").failure == "the program: MemoryError"
    ran = run_script("while True: print('x' * 1000)", "", LIMITS)
    assert len(ran.stdout) <= LIMITS.output
    assert ran.fault == "OSError: [Errno 27] File too large"


def test_a_sandbox_that_does_not_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """That is no fault of the program: it is told apart from one that breaks off."""
    broken = tmp_path / "harness.py"
    broken.write_text("raise SystemExit('no limits here')")
    monkeypatch.setattr(sandbox, "HARNESS", broken)
    with pytest.raises(SandboxFailure, match="did not start: no limits here"):
        judged(RIGHT)
