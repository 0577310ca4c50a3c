"""Exact values, in bounded time, and nothing run."""

from __future__ import annotations

import contextlib
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackfield_calculator.arithmetic import NotComputable, compute


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1988 - 1918", Fraction(70)),
        ("2 + 3 * 4", Fraction(14)),
        ("(2 + 3) * 4", Fraction(20)),
        ("-2 ** 2", Fraction(-4)),
        ("2 ** 3 ** 2", Fraction(512)),
        ("7 / 8", Fraction(7, 8)),
        ("1 / 3", Fraction(1, 3)),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("-7 // 2", Fraction(-4)),
        ("-7 % 3", Fraction(2)),
        ("2 ** -3", Fraction(1, 8)),
        ("7 % (-3)", Fraction(-2)),
        ("7 %3 + 1", Fraction(2)),
        ("7 % .5", Fraction(0)),
        ("1.5e3", Fraction(1500)),
        ("0x10 + 0b11 + 0o7", Fraction(26)),
        ("1_000 + 1_000.5", Fraction(4001, 2)),
        ("0 ** 0", Fraction(1)),
        ("(-1) ** (10 ** 50)", Fraction(1)),
    ],
)
def test_values(text: str, value: Fraction) -> None:
    """Python's precedence, and fractions all the way."""
    assert compute(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3 × 4 =", 12),
        ("12 ÷ 4 = ?", 3),
        ("5 − 7", -2),
        ("2^10", 1024),
        ("1,234,567 + 1", 1234568),
        ("1,000.5 * 2", 2001),
        ("  4\t+ 4 ", 8),
    ],
)
def test_as_people_write(text: str, value: int) -> None:
    """Signs of print, commas between thousands, a question at the end."""
    assert compute(text) == value


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("age + 1", "age"),
        ("__import__('os')", "__import__"),
        ("max(1)", "max"),
        ("12,34", ","),
        ("5!", "!"),
        ("3 = 3", "="),
        ("12 13", "12 13"),
        ("1 +", "1 +"),
        ("e", "e"),
        ("e(1)", "e"),
        ("2x", "2x"),
        ("007", "007"),
        ("٣ + 1", "٣"),
        ("0xg", "g"),
        ("0b2", "0b2"),
        ("1__0", "_0"),
        ("1j", "1j"),
        ("0x1,000", ","),
        ("((((((", "(((((("),
        ("1 + \x00", "\x00"),
    ],
)
def test_what_is_not_arithmetic(text: str, part: str) -> None:
    """Named to the policy, with what it may write."""
    with pytest.raises(NotComputable) as found:
        compute(text)
    assert str(found.value) == f"cannot compute '{part}'; write numbers, + - * / // % ** and brackets only"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("=?", "empty"),
        ("1 / (2 - 2)", "division by zero"),
        ("1 % 0", "division by zero"),
        ("0 ** -1", "division by zero"),
        ("2 ** 0.5", "whole number"),
        ("1" * 201, "longer than 200 characters"),
        ("9 ** 9 ** 9 ** 9", "more than 1000 digits"),
        ("2 ** 3400", "more than 1000 digits"),
        ("(1 / 3) ** 9999999", "more than 1000 digits"),
        ("(2 ** 3000) * (2 ** 3000)", "more than 1000 digits"),
        ("1e999999999", "more than 1000 digits"),
        ("1e-999999999 + 1", "more than 1000 digits"),
        ("1e99999999999999999999", "more than 1000 digits"),
        ("1e-99999999999999999999", "more than 1000 digits"),
    ],
)
def test_failures(text: str, why: str) -> None:
    """Each says why; what would be endless is refused before it is begun."""
    begin = time.process_time()
    with pytest.raises(NotComputable, match=why):
        compute(text)
    assert time.process_time() - begin < 1


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("10% + 5", "10% +"),
        ("200 + 10%", "10%"),
        ("50% * 80", "50% *"),
        ("(100 + 10%) / 2", "10%)"),
        ("10 % -3", "10 % -"),
        ("10%% 3", "10%%"),
        ("10% =", "10%"),
        ("% 5 %", "5 %"),
    ],
)
def test_percent(text: str, part: str) -> None:
    """``10% + 5`` is no remainder of 10 by +5: where no number follows %, what it means is asked for."""
    with pytest.raises(NotComputable) as found:
        compute(text)
    assert str(found.value) == f"'{part}' is not clear: % is the remainder, as in 7 % 3 or 7 % (-3); for percent divide by 100"


def test_the_bound_refuses_nothing_that_fits() -> None:
    """A number of 1,000 digits still has a value, and one power on the way to it too."""
    assert compute("10 ** 999 - 10 ** 999 + 2 ** 3300 - 2 ** 3300") == 0


@given(st.text(alphabet="0123456789+-*/%().e ^,=_xbofjXE", max_size=40))
def test_any_text_has_a_value_or_a_reason(text: str) -> None:
    """Nothing else comes out, and a value is within the bound."""
    with contextlib.suppress(NotComputable):
        value = compute(text)
        assert max(abs(value.numerator), value.denominator) < 10**1004
