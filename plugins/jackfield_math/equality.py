"""Whether two answers are the same mathematics. Imports sympy and may take any time and memory: only the worker process runs it.

math-verify decides on sets, intervals, tuples, relations and matrices, with its numeric comparison replaced by an exact one: it rounds
decimals to six places and calls equal what differs by less than 1e-15, so that √2 would be 1.41421356 and 1/2004! would be 1/2006!.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from latex2sympy2_extended.latex2sympy2 import NormalizationConfig, latex2sympy, normalize_latex
from math_verify import grader
from sympy import Basic, Eq, Float, MatrixBase, N, Rational, nan, zoo
from sympy.core.function import AppliedUndef

from jackfield_math.notation import is_misread, read

SPELLING = NormalizationConfig(basic_latex=True, units=False, malformed_operators=True, nits=False, boxed="none", equations=False)
DIGITS = 60
"""Two irrational constants that agree in the first 50 of so many digits are one; rational ones are compared exactly."""


def readable(text: str) -> bool:
    """Whether ``text`` is an answer as a whole: mathematics, or words."""
    written = read(text)
    return bool(written.words) or parse(written.latex) is not None


def equal(gold: str, answer: str, tolerance: float) -> bool | None:
    """Whether ``answer`` is ``gold``; None if ``gold`` or ``answer`` cannot be read as a whole.

    ``tolerance`` is relative, and counts only where one of the two is a decimal fraction.
    """
    right, given = read(gold), read(answer)
    if right.words or given.words:
        return bool(right.words) and right.words == given.words
    complex_numbers = any(grader.should_treat_as_complex(written.latex) for written in (right, given))
    expected, found = (parse(written.latex, real=not complex_numbers) for written in (right, given))
    if expected is None or found is None:
        return None
    if right.unit and given.unit and right.unit != given.unit:
        return False
    return _same(expected, found, tolerance if right.has_decimals or given.has_decimals else 0.0)


def parse(latex: str, *, real: bool = True) -> Basic | MatrixBase | None:
    """All of ``latex`` as an expression with exact numbers; None if any of it is not understood."""
    if not latex or is_misread(latex):
        return None
    try:
        found = latex2sympy(normalize_latex(latex, SPELLING), is_real=real, convert_degrees=False, normalization_config=None)
    except (MemoryError, RecursionError):
        raise
    except Exception:  # the parser raises whatever it meets in text that is no mathematics
        return None
    if not isinstance(found, Basic | MatrixBase) or found in (nan, zoo):
        return None
    return found.replace(lambda part: isinstance(part, Float), lambda part: Rational(str(part)))


def _same(gold: Any, answer: Any, tolerance: float) -> bool:
    if grader.is_equation(answer) and not grader.is_equation(gold) and not _gives_its_right_side(answer, tolerance):
        return False
    with _exact_numbers(tolerance):
        return bool(grader.verify(gold, answer, timeout_seconds=None, raise_on_error=True))


def _gives_its_right_side(equation: Any, tolerance: float) -> bool:
    """``x = 5``, ``f(2) = 5`` and the true ``2 + 3 = 5`` stand for 5; ``2x + 3 = 5`` and ``4 = 5`` do not."""
    first = grader.take_first_relation(equation)
    if grader.is_assignment_relation(equation) or isinstance(first.lhs, AppliedUndef):
        return True
    steps: tuple[Any, ...] = (equation,) if isinstance(equation, Eq) else equation.args
    return all(not step.free_symbols and _same_numbers(step.lhs, step.rhs, tolerance=tolerance) for step in steps)


@contextmanager
def _exact_numbers(tolerance: float) -> Iterator[None]:
    """math-verify with ``_same_numbers`` for its own comparison of numbers, wherever in a set, interval or relation they stand."""
    inexact = grader.sympy_numeric_eq
    grader.sympy_numeric_eq = partial(_same_numbers, tolerance=tolerance)
    try:
        yield
    finally:
        grader.sympy_numeric_eq = inexact


def _same_numbers(first: Any, second: Any, *_: object, tolerance: float) -> bool:
    """Whether two constants (or matrices of them) are equal; what holds symbols is left to simplification."""
    if isinstance(first, MatrixBase) or isinstance(second, MatrixBase):
        if not (isinstance(first, MatrixBase) and isinstance(second, MatrixBase) and first.shape == second.shape):
            return False
        return all(grader.sympy_expr_eq(a, b, 6, 15) for a, b in zip(first.flat(), second.flat(), strict=True))
    first, second = first.doit(), second.doit()
    if first == second:
        return True
    if first.free_symbols or second.free_symbols:
        return False
    if first.is_Rational and second.is_Rational:
        return tolerance > 0 and bool(abs(first - second) <= Rational(str(tolerance)) * abs(first))
    a, b = N(first, DIGITS), N(second, DIGITS)
    if not (a.is_number and b.is_number and a.is_finite and b.is_finite):
        return False
    return bool(abs(a - b) <= max(Rational(1, 10**50), Rational(str(tolerance))) * abs(a))
