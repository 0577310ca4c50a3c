from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackfield.testing.contracts import check_reward
from jackfield.testing.fakes import CharTokenizer
from jackfield.types import Finish, Rollout, Segment, Task, Verdict
from jackfield_verifiers.numbers import LastNumber, Number


def judge(completion: str, *golds: str) -> Verdict:
    segments = (
        Segment(tokens=np.arange(3), writer="task", text="99"),
        Segment(tokens=np.arange(3), writer="policy", text=completion),
    )
    return LastNumber().judge(
        Rollout(task=Task(id="sums/7", prompt=(), answers=golds), member=0, segments=segments, finish=Finish(reason="eos"))
    )


@pytest.mark.parametrize(
    ("completion", "gold", "value"),
    [
        ("3 + 4 = 7", "7", 1),
        ("3 + 4 = 7.", "7", 1),
        ("3 + 4 = 8", "7", 0),
        ("The answer is 7.0", "7", 1),
        ("#### 42" + " and so on" * 48, "42", 1),
        ("it is 17", "7", 0),
        ("5-3", "3", 1),
        ("5 - 8 = -3", "-3", 1),
        ("5 - 8 = −3", "-3", 1),
        ("5 - 8 = -3", "3", 0),
        ("115,000", "115000", 1),
        ("1,234,567.5", "1234567.5", 1),
        ("12,34", "1234", 0),
        ("12,34", "34", 1),
        ("it is .5", "5", 0),
        ("it is .5", "0.5", 1),
        ("it is **7**", "7", 1),
        ("\\boxed{7}", " 7 ", 1),
        ("it lost -$5", "-5", 1),
        ("it lost -$5", "5", 0),
        ("it lost −\\$1,005.50", "-1005.5", 1),
        ("$8$-$5$", "5", 1),
        ("$8-$5", "5", 1),
        ("8 - 5", "5", 1),
        ("7 or 8", "7", 0),
        ("0.1", "0.10000001", 0),
        ("1" * 5000, "1" * 5000, 1),
    ],
)
def test_last_number(completion: str, gold: str, value: float) -> None:
    """X4, V18: the last number decides, exactly, whatever text follows; commas count only between groups of three."""
    verdict = judge(completion, gold)
    assert verdict.kind == "score"
    assert verdict.value == value


def test_says_why() -> None:
    """The verdict holds the number as it was written."""
    assert judge("so 1,007", "7") == Verdict.score(0.0, "is not 7", "1,007")
    assert judge("so 7", "9", "8") == Verdict.score(0.0, "is not a gold number", "7")
    assert judge("so 7", "9", "7") == Verdict.score(1.0, "is the gold number", "7")


def test_no_number() -> None:
    """A completion without number scores 0; the prompt's numbers are not looked at."""
    assert judge("seven", "99") == Verdict.score(0.0, "no number in the completion")


@pytest.mark.parametrize("golds", [(), ("",), ("seven",), ("7 apples",)])
def test_gold_that_is_no_number(golds: tuple[str, ...]) -> None:
    """X8: a gold answer that is empty or prose is abstained from, and the row is named."""
    verdict = judge("7", *golds)
    assert verdict.kind == "abstain"
    assert "sums/7" in verdict.reason


@given(st.integers(-(10**12), 10**12), st.text(alphabet="abc .,!\n", max_size=20))
def test_any_integer_however_it_is_grouped(number: int, after: str) -> None:
    """Grouped or not, with any text behind it, an integer is read back exactly."""
    assert judge(f"x = {number:,} {after}", str(number)).value == 1
    assert judge(f"x = {number} {after}", str(number + 1)).value == 0


@pytest.mark.parametrize("piece", ["1", "1,", ",111", "1.", "-", "111,111,", "= ", "-$", " "])
def test_is_linear(piece: str) -> None:
    """S10: 100,000 degenerate characters are judged at once."""
    text = piece * (100_000 // len(piece))
    start = time.process_time()
    judge(text, "7")
    Number(which="last").judge(answered(text, "7"))
    assert time.process_time() - start < 2


def answered(answer: str, *golds: str) -> Rollout:
    segments = (Segment(tokens=np.arange(1), writer="policy", text=f"<answer>{answer}</answer>"),)
    task = Task(id="t", prompt=(), answers=golds, origin="sums.jsonl:9")
    return Rollout(task=task, member=0, segments=segments, finish=Finish(reason="eos"))


@pytest.mark.parametrize(
    ("answer", "gold", "value"),
    [
        ("42", "42", 1),
        ("$42.00", "42", 1),
        ("about 42 km", "42", 1),
        ("−7", "-7", 1),
        ("–7", "-7", 1),
        ("-7", "7", 0),
        ("+7", "7", 1),
        ("-$5", "-5", 1),
        ("-$5", "5", 0),
        ("−€ 5", "-5", 1),
        ("–\\$5", "-5", 1),
        ("-$5", "-$5.00", 1),
        ("a loss of -£5", "-5", 1),
        ("−5 €", "-5", 1),
        ("− 5", "-5", 1),
        ("- $5", "-5", 1),
        (" - 5", " - 5 ", 1),
        ("x = - 5", "-5", 1),
        ("x =- 5", "-5", 1),
        ("+ 5", "5", 1),
        ("\\boxed{- 5}", "-5", 1),
        ("item - 5", "5", 1),
        ("- 5%", "-0.05", 1),
        ("1,007", "1007", 1),
        ("1\u202f007\u00a0000", "1007000", 1),
        ("12,34", "1234", 0),  # V18: two numbers
        ("4.2e1", "42", 1),
        ("1e-3", "0.001", 1),
        ("50%", "0.5", 1),
        ("50 percent", "50\\%", 1),
        ("50%", "50", 0),
        ("0.1", "0.10000001", 0),  # V26
        ("42 or 43", "42", 0),
        ("forty-two", "42", 0),
        ("", "42", 0),
        ("\\boxed{42}", "42", 1),
        ("0.1", "42 apples and 3", None),
        ("0.1", "x", None),
        ("1e99999", "1", 0),
        ("9" * 5000, "1", 0),
    ],
)
def test_number(answer: str, gold: str, value: float | None) -> None:
    """Exact values of numbers as people write them; without one number as the gold answer there is no verdict."""
    verdict = Number().judge(answered(answer, gold))
    assert (verdict.kind, verdict.value) == (("abstain", 0) if value is None else ("score", value))


def test_number_reasons() -> None:
    """What was read and what it should have been."""
    assert Number().judge(answered("8 km", "7")) == Verdict.score(0.0, "8 is not 7", "8")
    assert Number().judge(answered("7", "7")) == Verdict.score(1.0, "7 is 7", "7")
    assert Number().judge(answered("-$8", "x", "7")) == Verdict.score(0.0, "-$8 is not 7", "-$8")
    assert Number().judge(answered("8", "7", "9")).reason == "8 is not a gold number"
    assert Number().judge(answered("7", "9", "7")).reason == "7 is a gold number"
    assert Number().judge(answered("7 or 8", "7")).reason == "2 numbers in the answer"
    assert Number().judge(answered("7", "x")).reason == "no gold answer of sums.jsonl:9 is a number: 'x'"
    assert Number().check_task(answered("7", "x").task, CharTokenizer()) == "no gold answer is a number: 'x'"


def test_which_number() -> None:
    """The first or the last of several, on request."""
    assert Number(which="first").judge(answered("7 of 8", "7")).value == 1
    assert Number(which="last").judge(answered("7 of 8", "7")).value == 0
    assert Number(which="last").judge(answered("7 of 8", "3", "8")).value == 1
    assert Number(which="last").judge(answered("7 - 8", "8")).value == 1
    assert Number(which="last").judge(answered("7 -8", "-8")).value == 1


@pytest.mark.parametrize(
    ("tolerances", "answer", "gold", "value"),
    [
        ({"absolute_tolerance": 0.01}, "3.14", "3.1415", 1),
        ({"absolute_tolerance": 0.001}, "3.14", "3.1415", 0),
        ({"relative_tolerance": 0.1}, "-110", "-100", 1),
        ({"relative_tolerance": 0.1}, "-110.1", "-100", 0),
        ({"absolute_tolerance": 0.1}, "0.3", "0.2", 1),  # 0.3 - 0.2 is above 0.1 in binary
    ],
)
def test_tolerance(tolerances: dict[str, float], answer: str, gold: str, value: float) -> None:
    """Up to the tolerance and with it, in exact arithmetic, relative to the gold number."""
    assert Number(**tolerances).judge(answered(answer, gold)).value == value


def test_number_contract() -> None:
    """Judges anything quickly."""
    check_reward(Number(answer_tag="", which="last"))
