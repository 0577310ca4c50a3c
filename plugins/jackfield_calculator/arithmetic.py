"""From a text to an exact number, in bounded time: the text is parsed, never evaluated.

Every number met on the way has at most ``DIGITS`` digits above and below its fraction bar, whatever the text asks for; with at most
``LONGEST`` characters of text that bounds the work.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction

LONGEST = 200
"""Characters of an expression."""
DIGITS = 1000

_BITS = int(DIGITS * 3.33)
_SPELLINGS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**"})
_FOREIGN = re.compile(r"(?<![\d.])[A-Za-z_]\w*|[^\w\s.+\-*/%()]", re.ASCII)
_PERCENT = re.compile(r"[^-+*/%(]*%\s*(?:[-+*/%)]|$)")
"""A % that no number or bracket follows. Python would read ``10% + 5`` as the remainder of 10 by +5."""
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,])")


class NotComputable(Exception):
    """Why a text has no value, in words for the policy."""


def compute(text: str) -> Fraction:
    """The exact value of an expression. Raises NotComputable."""
    if len(text) > LONGEST:
        raise NotComputable(f"the expression is longer than {LONGEST} characters")
    expression = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), text.translate(_SPELLINGS)).strip().rstrip("=? ").strip()
    if not expression:
        raise NotComputable("the expression is empty; write what to compute")
    if foreign := _FOREIGN.search(expression):
        raise _not_understood(foreign[0])
    if percent := _PERCENT.search(expression):
        raise NotComputable(
            f"'{percent[0].strip()}' is not clear: % is the remainder, as in 7 % 3 or 7 % (-3); for percent divide by 100"
        )
    try:
        return _value(ast.parse(expression, mode="eval").body, expression)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # also what ast.parse says of odd texts
        raise _not_understood(text.strip()) from error


def _value(node: ast.expr, source: str) -> Fraction:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _small(_OPERATIONS[type(node.op)](_value(node.left, source), _value(node.right, source)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand, source)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)  # 0x10 too
    if isinstance(node, ast.Constant) and type(node.value) is float:
        return _decimal(ast.get_source_segment(source, node) or "")
    raise _not_understood(ast.get_source_segment(source, node) or source)


def _decimal(literal: str) -> Fraction:
    """As it is written: 0.1 is a tenth. A Decimal holds an exponent without writing the digits out."""
    try:
        exact = Decimal(literal)
    except InvalidOperation as error:  # an exponent beyond even a Decimal
        raise _too_large() from error
    if exact and abs(exact.adjusted()) > DIGITS:
        raise _too_large()
    return Fraction(exact)


def _divided(by: Callable[[Fraction, Fraction], Fraction | int]) -> Callable[[Fraction, Fraction], Fraction]:
    def divide(left: Fraction, right: Fraction) -> Fraction:
        if not right:
            raise NotComputable("division by zero")
        return Fraction(by(left, right))

    return divide


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        raise NotComputable("an exponent must be a whole number")
    if not base and exponent < 0:
        raise NotComputable("division by zero")
    if abs(base) in (0, 1):
        return base ** int(exponent % 2 if base else exponent)
    if abs(exponent) * _bits(base) > 2 * _BITS:  # of b bits, so at least 2^(b - 1): nothing larger is ever begun
        raise _too_large()
    return base ** int(exponent)


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _small(value: Fraction) -> Fraction:
    if _bits(value) > _BITS:
        raise _too_large()
    return value


def _too_large() -> NotComputable:
    return NotComputable(f"a number has more than {DIGITS} digits")


def _not_understood(part: str) -> NotComputable:
    shown = part if len(part) <= 40 else f"{part[:40]}…"
    return NotComputable(f"cannot compute '{shown}'; write numbers, + - * / // % ** and brackets only")


_OPERATIONS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: _divided(operator.truediv),
    ast.FloorDiv: _divided(operator.floordiv), ast.Mod: _divided(operator.mod), ast.Pow: _power,
}  # fmt: skip
