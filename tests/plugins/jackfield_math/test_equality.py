from __future__ import annotations

import pytest

from jackfield_math.equality import equal, readable

EQUAL = [
    ("$28\\%$", "28 percent"),  # V8
    ("$28\\%$", "0.28"),
    ("$2x+4y-3=0$", "$y=-\\frac{1}{2}x+\\frac{3}{4}$"),  # V9
    ("$0<x<12.5$", "$(0,12.5)$"),  # V10
    ("$\\text{13}$", "$13$"),  # V13
    ("$10-2\\sqrt{5}$", "10 - 2√5"),  # V15
    ("115,000", "115000"),  # V18
    ("$\\frac{1}{2^{99}}$", "2^{-99}"),
    ("0.1", "0.10"),
    ("1/2", "0.5"),
    ("19/5", "3 4/5"),
    ("7/2", "3½"),
    ("5", "x = 5"),
    ("x = 5", "5"),
    ("4", "2+2=4"),
    ("5 cm", "5"),
    ("5\\text{ cm}^2", "5 cm^2"),
    ("Yes", "\\text{yes}"),
    ("1e5", "100000"),
    ("\\pi", "pi"),
    ("\\{1,2\\}", "2, 1"),
    ("(-\\infty,3]", "(-∞, 3]"),
    ("[1,2)\\cup(3,4]", "[1,2)∪(3,4]"),
    ("x>5", "5<x"),
    ("x^2+2x+1", "(x+1)^2"),
    ("sqrt(2)+sqrt(3)", "sqrt(5+2sqrt(6))"),
    ("-7", "−7"),
    ("3+4i", "4i+3"),
    ("\\log_2 8", "3"),
    ("\\begin{pmatrix}1&0.5\\\\3&4\\end{pmatrix}", "\\begin{pmatrix}1&\\frac{1}{2}\\\\3&4\\end{pmatrix}"),
]

UNEQUAL = [
    ("$\\frac{1}{2004!}$", "$\\frac{1}{2006!}$"),  # V1
    ("$\\frac{1}{2^{99}}$", "$\\frac{1}{2^{98}}$"),  # V2
    ("$28\\%$", "28"),  # V7, policy: a percentage is its value
    ("$(0,12.5)$", "$0<x<12.5$"),  # V11, policy: as upstream
    ("1234", "12,34"),  # V18
    ("$\\sqrt{2}$", "1.41421356"),  # V25, policy: exact
    ("$0.1$", "0.10000001"),  # V26, policy: exact
    ("1/3", "0.3333"),
    ("\\frac{\\pi}{6}", "0.5235987755982988"),
    ("e^{\\pi\\sqrt{163}}", "262537412640768744"),  # they differ in the 31st digit
    ("\\{0.1,0.2\\}", "{0.1, 0.20000001}"),
    ("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "\\begin{pmatrix}1&2\\\\3&4.0000001\\end{pmatrix}"),
    ("(0, 1)", "(0, 1 + 10^{-20})"),
    ("5", "2x+3=5"),
    ("5", "4=5"),
    ("5 cm", "5 m"),
    ("5", "5 x"),
    ("Yes", "sey"),
    ("(1,2)", "(2,1)"),
    ("x>5", "x<5"),
    ("x>5", "x\\ge 5"),
    ("2x", "3x"),
    ("x", "y"),
    ("5", "the answer is 5"),
]


@pytest.mark.parametrize(("gold", "answer"), EQUAL)
def test_equal(gold: str, answer: str) -> None:
    """Different ways of writing one thing."""
    assert equal(gold, answer, 0.0) is True


@pytest.mark.parametrize(("gold", "answer"), UNEQUAL)
def test_unequal(gold: str, answer: str) -> None:
    """Near misses are misses, also within sets, intervals and matrices."""
    assert equal(gold, answer, 0.0) is False


def test_no_renaming() -> None:
    """V21, policy: other names of constants are another answer."""
    assert equal("$Y(x)=-x+C+\\frac{D}{x}$", "$Y(x)=A+\\frac{B}{x}-x$", 0.0) is False


@pytest.mark.parametrize("text", ["$1, 2, \\ldots, n$", "1 2", "", "5)", "x^2+", "\\frac{0}{0}"])
def test_unreadable(text: str) -> None:
    """V4: what does not parse as a whole is neither equal nor unequal."""
    assert not readable(text)
    assert equal(text, text, 0.0) is None


def test_tolerance() -> None:
    """It counts where one side is a decimal fraction, relative to the gold answer, and nowhere else."""
    assert equal("1/3", "0.3333", 1e-3)
    assert not equal("1/3", "0.33", 1e-3)
    assert equal("\\sqrt{2}", "1.4142", 1e-4)
    assert not equal("\\sqrt{2}", "1.4146", 1e-4)
    assert not equal("100", "101", 0.5)


def test_the_library_is_left_as_it_was() -> None:
    """Its comparison of numbers is replaced only while we compare."""
    from math_verify import grader

    before = grader.sympy_numeric_eq
    equal("1/2", "0.5", 0.0)
    assert grader.sympy_numeric_eq is before
