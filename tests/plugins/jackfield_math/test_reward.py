from __future__ import annotations

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest

from jackfield.testing.contracts import check_reward
from jackfield.testing.fakes import CharTokenizer
from jackfield.types import Finish, Rollout, Segment, Task, Verdict
from jackfield_math.reward import Math

PATIENT = 120.0
"""Seconds: nothing here should run out of time on a busy machine unless it must."""


@pytest.fixture(scope="module")
def math() -> Iterator[Math]:
    judge = Math(seconds=PATIENT, workers=1)
    yield judge
    judge.close()


def rollout(text: str, *golds: str) -> Rollout:
    segments = (Segment(tokens=np.arange(1), writer="policy", text=text),)
    task = Task(id="t", prompt=(), answers=golds, origin="math.jsonl:3")
    return Rollout(task=task, member=0, segments=segments, finish=Finish(reason="eos"))


def judged(math: Math, answer: str, *golds: str) -> Verdict:
    return asyncio.run(math.judge(rollout(f"<answer>{answer}</answer>", *golds)))


def test_verdicts(math: Math) -> None:
    """The reason names both sides; any alias will do; a number standing somewhere is no answer."""
    assert judged(math, "1/2", "3", "0.5") == Verdict.score(1.0, "'1/2' equals '0.5'", "1/2")
    assert judged(math, "0.333", "\\frac{1}{3}") == Verdict.score(0.0, "'0.333' is not '\\frac{1}{3}'", "0.333")
    assert judged(math, "1, 2, …", "2") == Verdict.score(0.0, "'1, 2, …' cannot be read as mathematics", "1, 2, …")
    assert judged(math, " ", "2") == Verdict.score(0.0, "the answer is empty", "")
    verdict = asyncio.run(math.judge(rollout("it is 2", "2")))
    assert verdict == Verdict.score(0.0, "no <answer>…</answer> and no \\boxed{…} in the completion")
    assert asyncio.run(math.judge(rollout("#### 2, \\boxed{2}", "$2$"))).value == 1  # X4: whatever follows or precedes
    assert asyncio.run(math.judge(rollout("\\boxed{1} <answer>2</answer>", "2"))).parsed == "2"  # tags go before boxes
    assert asyncio.run(math.judge(rollout("\\boxed{1} <answer>2", "1"))).parsed == "1"
    assert judged(math, "1+" * 300 + "1", "601").reason == "601 characters are no final answer"


@pytest.mark.parametrize(
    ("case", "gold", "answer", "value"),
    [
        ("V1", "$\\frac{1}{2004!}$", "$\\frac{1}{2006!}$", 0.0),
        ("V2", "$\\frac{1}{2^{99}}$", "$\\frac{1}{2^{98}}$", 0.0),
        ("V4", "$1, 2, \\ldots, n$", "$1, 3, 5, \\ldots, 2n-1$", None),
        ("V7, policy: a percentage is its value", "$28\\%$", "28", 0.0),
        ("V8", "$28\\%$", "28 percent", 1.0),
        ("V9", "$2x+4y-3=0$", "$y=-\\frac{1}{2}x+\\frac{3}{4}$", 1.0),
        ("V10", "$0<x<12.5$", "$(0,12.5)$", 1.0),
        ("V11, policy: as upstream", "$(0,12.5)$", "$0<x<12.5$", 0.0),
        ("V13", "$\\text{13}$", "$13$", 1.0),
        ("V15", "$10-2\\sqrt{5}$", "10 - 2√5", 1.0),
        ("V18", "115,000", "115000", 1.0),
        ("V18", "1234", "12,34", 0.0),
        ("V21, policy: no renaming", "$Y(x)=-x+C+\\frac{D}{x}$", "$Y(x)=A+\\frac{B}{x}-x$", 0.0),
        ("V25, policy: exact", "$\\sqrt{2}$", "1.41421356", 0.0),
        ("V26, policy: exact", "$0.1$", "0.10000001", 0.0),
    ],
)
def test_the_cases_by_the_whole_reward(math: Math, case: str, gold: str, answer: str, value: float | None) -> None:
    """Out of the completion, in the process that compares; None: the gold answer cannot be read, which check time tells."""
    verdict = judged(math, answer, gold)
    assert (verdict.value if verdict.kind == "score" else None) == value, case
    told = math.check_task(Task(id="t", prompt=(), answers=(gold,)), CharTokenizer())
    assert (told is None) == (value is not None)


def test_unusable_gold(math: Math) -> None:
    """X8: a gold answer that is empty or does not parse is abstained from and told at check time, with what it says."""
    assert judged(math, "2", "") == Verdict.abstain("the gold answer is missing or empty in math.jsonl:3")
    assert judged(math, "2", "x^2+").reason == "no gold answer of math.jsonl:3 can be read as mathematics: 'x^2+'"
    tokenizer = CharTokenizer()
    assert math.check_task(Task(id="t", prompt=(), answers=("x^2+",)), tokenizer) == (
        "no gold answer can be read as mathematics: 'x^2+'"
    )
    for good in (("42",), ("x^2+", "\\boxed{\\frac{1}{2}}"), ("-0.5",), ("Yes",)):
        assert math.check_task(Task(id="t", prompt=(), answers=good), tokenizer) is None


def test_time_limit() -> None:
    """S7: a comparison that never ends is an error, not a 0; the next one is judged by another process. S8: from a worker thread."""
    math = Math(seconds=3.0, workers=1)
    hard = "9^{9^{9}}+1"
    try:
        assert judged(math, "1", "1").value == 1
        verdict = judged(math, hard, "9^{9^{9}}+x-x")
        assert verdict.kind == "error"
        assert hard in verdict.reason
        assert judged(math, "1", "1").value == 1
    finally:
        math.close()


def test_a_crash_is_an_error_and_the_next_is_judged(math: Math) -> None:
    """A process that is gone is replaced."""
    assert judged(math, "1", "1").value == 1
    worker = math._idle.get()
    assert worker._process is not None
    worker._process.kill()
    math._idle.put(worker)
    with pytest.raises(RuntimeError, match="ended with -9"):
        judged(math, "1", "1")
    assert judged(math, "1", "1").value == 1


def test_many_at_once() -> None:
    """All of a step are judged concurrently by a bounded number of processes, each verdict its own."""

    async def all_of_them() -> list[Verdict]:
        return list(await asyncio.gather(*(math.judge(rollout(f"\\boxed{{{i}}}", "3")) for i in range(6))))

    math = Math(seconds=PATIENT, workers=2)
    try:
        assert [v.value for v in asyncio.run(all_of_them())] == [0, 0, 0, 1, 0, 0]
    finally:
        math.close()


def test_contract(math: Math) -> None:
    """Judges anything quickly."""
    check_reward(math)
