"""What the policy reads of a number."""

from __future__ import annotations

from fractions import Fraction

import pytest

from jackfield_calculator.wording import written


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(70), "70"),
        (Fraction(-4), "-4"),
        (Fraction(0), "0"),
        (Fraction(7, 8), "0.875"),
        (Fraction(100), "100"),
        (Fraction(10**19), "10000000000000000000"),
        (Fraction(1, 3), "about 0.333333333333"),
        (Fraction(-2, 3), "about -0.666666666667"),
        (Fraction(2**100), "about 1.26765060023e+30"),
        (Fraction(1, 10**25), "about 1e-25"),
        (Fraction(10**20 + 1, 10**20), "about 1"),
    ],
)
def test_written(value: Fraction, text: str) -> None:
    """Whole where it is short, rounded and said so where it is not; never so long that an observation would cut it."""
    assert written(value) == text
    assert len(text) <= 30
