from __future__ import annotations

import time

import pytest

from jackfield_math.notation import Written, is_misread, read


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("$\\frac{1}{2}$", "\\frac{1}{2}"),
        ("\\( x \\).", "x"),
        ("**42**", "42"),
        ("10 − 2√5", "10 - 2\\sqrt{5}"),
        ("√(x+1)", "\\sqrt{x+1}"),
        ("sqrt(5+2sqrt(6))", "\\sqrt{5+2\\sqrt{6}}"),
        ("x²⁰", "x^{20}"),
        ("3½", "3\\frac{1}{2}"),
        ("１２", "12"),
        ("2**10", "2^{10}"),
        ("2^10", "2^{10}"),
        ("28 percent", "28\\%"),
        ("28 %", "28\\%"),
        ("$28\\%$", "28\\%"),
        ("115 000", "115000"),
        ("12 34", "12 34"),
        ("1e-5", "1\\times 10^{-5}"),
        ("-3 4/5", "-(3+\\frac{4}{5})"),
        ("\\text{13}", "13"),
        ("$\\$5$", "5"),
        ("-$5", "-5"),
        ("− \\$5", "-5"),
        ("pi/2", "\\pi /2"),
        ("0.5", "0.5"),
    ],
)
def test_one_spelling(text: str, latex: str) -> None:
    """V8, V13, V15, V18: delimiters, Unicode, percent, thousands, exponents and mixed numbers come out as one LaTeX."""
    assert read(text) == Written(latex=latex)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("5 cm", "5", "cm"),
        ("5\\text{ cm}^2", "5", "cm2"),
        ("5 cm^2", "5", "cm2"),
        ("3 apples", "3", "apple"),
        ("60 km/h", "60", "km/h"),
        ("2√5 cm", "2\\sqrt{5}", "cm"),
        ("5 x", "5 x", ""),
        ("5 xy", "5 xy", ""),
        ("1 and 2", "1 and 2", ""),
    ],
)
def test_units(text: str, value: str, unit: str) -> None:
    """What stands behind a value is its unit; symbols and lists are not."""
    assert read(text) == Written(latex=value, unit=unit)


def test_words() -> None:
    """Text with words is no mathematics, whatever letters it could be a product of."""
    assert read("Yes").words == read("\\text{yes}").words == "yes"
    assert read("The answer is 5").words == "the answer is 5"
    assert not read("x y").words
    assert not read("\\begin{pmatrix}1\\\\2\\end{pmatrix}").words
    assert not read("\\sin x + \\cos y").words
    assert read("") == Written()


@pytest.mark.parametrize("latex", ["1 2", "1, 2, \\ldots, n", "1, 2, …", "1, ..., 5"])
def test_misread(latex: str) -> None:
    """V4: what a parser would make something else of is refused; an index before a number is not."""
    assert is_misread(latex)
    assert not is_misread("\\log_2 8")


def test_decimals() -> None:
    """Only a decimal fraction may be a rounded value."""
    assert read("0.5").has_decimals
    assert read(".5").has_decimals
    assert not read("5.").has_decimals
    assert not read("1/2").has_decimals


@pytest.mark.parametrize("piece", ["a ", "1,", "(", "{", "5 cm ", "sqrt(", "$", "\\text{", "²", "½", "1 "])
def test_is_quick(piece: str) -> None:
    """S10: the longest answer that is read takes no time."""
    start = time.process_time()
    read(piece * (500 // len(piece)))
    assert time.process_time() - start < 1
