"""A number as the policy reads it."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

DIGITS = 20
"""A number of at most so many digits is written out; it must not be cut where an observation is."""
ROUNDED = 12
"""Significant digits of one that is rounded."""


def written(value: Fraction) -> str:
    """``"70"``, ``"0.875"``, ``"about 0.333333333333"``, ``"about 1.26765060023e+30"``."""
    exact = _decimal(value, DIGITS)
    if Fraction(exact) == value and -DIGITS <= exact.adjusted() < DIGITS:
        return f"{exact:f}"
    return f"about {_decimal(value, ROUNDED):g}"


def _decimal(value: Fraction, digits: int) -> Decimal:
    context = Context(prec=digits)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
