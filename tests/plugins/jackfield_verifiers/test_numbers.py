from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackfield.types import Finish, Rollout, Segment, Task, Verdict
from jackfield_verifiers.numbers import LastNumber


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


@pytest.mark.parametrize("piece", ["1", "1,", ",111", "1.", "-", "111,111,"])
def test_is_linear(piece: str) -> None:
    """S10: 100,000 degenerate characters are judged at once."""
    text = piece * (100_000 // len(piece))
    start = time.perf_counter()
    judge(text, "7")
    assert time.perf_counter() - start < 2
