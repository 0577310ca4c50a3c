"""Lists of numbers to be sorted, judged by the numbers that were given.

The package's own scorer lets every number be off by 1.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any


def score_sorted(answer: str, numbers: Sequence[str], direction: str) -> tuple[float, str]:
    """1 if the answer is a list of exactly ``numbers`` in order, "ascending" or "descending", else 0; and why.

    A list as JSON writes it or with single quotes, of numbers or of texts that are numbers; ``5`` is ``5.0``.
    """
    try:
        written = json.loads(answer.replace("'", '"'), parse_float=Decimal, parse_int=Decimal)
        found = [_number(item) for item in written] if isinstance(written, list) else None
    except (ValueError, InvalidOperation, RecursionError):
        found = None
    if found is None:
        return 0.0, "no list of numbers"
    expected = sorted(map(Decimal, numbers), reverse=direction == "descending")
    if sorted(found) != sorted(expected):
        return 0.0, "not the numbers that were given"
    return float(found == expected), "in order" if found == expected else f"not in {direction} order"


def _number(item: Any) -> Decimal:
    number = Decimal(item)
    if isinstance(item, bool) or not number.is_finite():
        raise ValueError(f"no number: {item}")
    return number
