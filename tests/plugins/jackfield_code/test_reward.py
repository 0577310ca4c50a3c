from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jackfield.testing.contracts import check_reward
from jackfield.testing.fakes import CharTokenizer
from jackfield.types import Finish, Rollout, Segment, Task, Verdict
from jackfield_code import sandbox
from jackfield_code.reward import CodeTests

ADD = "def add(a, b):\n    return a + b\n"
FIVE = "def add(a, b):\n    return 5\n"
TESTS = "assert add(2, 3) == 5\nassert add(0, 0) == 0\n"
SUM = "a, b = map(int, input().split())\nprint(a + b)\n"
PRODUCT = "a, b = map(int, input().split())\nprint(a * b)\n"
CASES = [{"stdin": "2 2", "stdout": "4\n"}, {"stdin": "2 3", "stdout": "5\n"}]


def judged(program: str, reward: CodeTests | None = None, **extra: Any) -> Verdict:
    segments = (Segment(tokens=np.arange(1), writer="policy", text=f"Here:\n```python\n{program}```\n"),)
    task = Task(id="t", prompt=(), extra=extra, origin="code.jsonl:4")
    rollout = Rollout(task=task, member=0, segments=segments, finish=Finish(reason="eos"))
    return asyncio.run((reward or CodeTests(seconds=60)).judge(rollout))


def test_tests() -> None:
    """The part that passes, or all or nothing; the program is kept as what was read."""
    assert judged(ADD, tests=TESTS) == Verdict.score(1.0, "2 of 2 tests passed", ADD, passed=1.0)
    reason = "1 of 2 tests passed; add(0, 0) == 0: found 5, expected 0"
    assert judged(FIVE, tests=TESTS) == Verdict.score(0.5, reason, FIVE, passed=0.5)
    assert judged(FIVE, CodeTests(seconds=60, score="all"), tests=TESTS) == Verdict.score(0.0, reason, FIVE, passed=0.5)


def test_cases() -> None:
    """One run a case; the first that fails is told."""
    assert judged(SUM, cases=CASES) == Verdict.score(1.0, "2 of 2 tests passed", SUM, passed=1.0)
    verdict = judged(PRODUCT, cases=CASES)
    assert (verdict.value, verdict.reason) == (0.5, "1 of 2 tests passed; case 2: printed '6\\n', expected '5\\n'")


def test_its_own_fault_is_a_zero() -> None:
    """S1: running out of time or leaving early scores 0 and says so; after a time-out further cases are not run."""
    quick = CodeTests(seconds=2)
    assert judged("while True: pass\n", quick, tests=TESTS).reason == "the program ran out of time"
    verdict = judged("while True: pass\n", quick, cases=CASES)
    assert (verdict.value, verdict.reason) == (0, "0 of 2 tests passed; case 1: ran out of time")
    assert judged("import os; os._exit(0)\n", tests=TESTS).reason == "the program ended before its tests did"
    assert judged("", tests=TESTS) == Verdict.score(0.0, "no program in the completion")


def test_a_sandbox_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Never a 0: the program was not judged."""
    (tmp_path / "harness.py").write_text("raise SystemExit('broken')")
    monkeypatch.setattr(sandbox, "HARNESS", tmp_path / "harness.py")
    verdict = judged(ADD, tests=TESTS)
    assert (verdict.kind, verdict.reason) == ("error", "code.jsonl:4: the process for the program did not start: broken")


def test_rows_without_tests() -> None:
    """They are told at check time, and abstained from."""
    tokenizer, reward = CharTokenizer(), CodeTests()
    assert judged(ADD).reason == "code.jsonl:4 has neither 'tests' nor 'cases'"
    assert judged(ADD, cases=[]) == Verdict.abstain("code.jsonl:4: 'cases' must be a list that is not empty")
    message = reward.check_task(Task(id="t", prompt=()), tokenizer)
    assert message == "has neither 'tests' nor 'cases' to run a program against"
    assert reward.check_task(Task(id="t", prompt=(), extra={"tests": "x = ("}), tokenizer) is not None
    assert reward.check_task(Task(id="t", prompt=(), extra={"tests": TESTS}), tokenizer) is None


def test_contract() -> None:
    """Judges anything quickly."""
    check_reward(CodeTests())
