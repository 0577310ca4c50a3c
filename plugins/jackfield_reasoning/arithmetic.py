"""Puzzles that ask for an expression over given numbers, judged without evaluating any Python.

The package's own scorers hand the answer to sympy's parser, which runs it; and that of ``puzzle24`` does not look which numbers were
used, and takes 24.9 for 24.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

LONGEST = 200
"""Characters of an expression at most."""

_OPERATIONS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
TARGETS: Mapping[str, Callable[[Mapping[str, Any]], int]] = {
    "countdown": lambda metadata: int(metadata["target"]),
    "puzzle24": lambda metadata: 24,  # noqa: ARG005
}
"""Generator → the number to be reached, from an entry's metadata."""


def score_expression(answer: str, numbers: Sequence[int], target: int) -> tuple[float, str]:
    """1 if the expression equals ``target`` exactly and uses each of ``numbers`` once and no other, else 0; and why.

    Numbers, + - * /, unary minus and brackets are understood, nothing else.
    """
    text = answer.strip()
    if len(text) > LONGEST:
        return 0.0, f"the expression is longer than {LONGEST} characters"
    try:
        tree = ast.parse(text, mode="eval").body
        value, used = _value(tree), sorted(_numbers(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0.0, "no expression of numbers, + - * / and brackets"
    except ZeroDivisionError:
        return 0.0, "divides by zero"
    if used != sorted(numbers):
        return 0.0, f"uses {used}, not {sorted(numbers)}"
    return float(value == target), f"equals {value}, asked for {target}"


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    raise ValueError(f"not understood: {ast.dump(node)[:40]}")


def _numbers(node: ast.expr) -> Iterator[int]:
    return (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, int))
