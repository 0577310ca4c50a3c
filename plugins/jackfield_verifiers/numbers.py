"""Judge of sums: the last number that was written."""

from __future__ import annotations

import re
from decimal import Decimal

from attrs import frozen

from jackfield.types import Rollout, Verdict

NUMBER = re.compile(r"(?:(?<![\w)])[-+−])?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)")
"""A sign counts only where no operand stands before it (``5-3`` ends in 3, ``= -3`` in -3); commas only between groups of three."""


@frozen(kw_only=True)
class LastNumber:
    """1 if the last number the policy wrote is exactly the gold number, else 0; text after it is no matter.

    ``7``, ``7.0`` and ``1,007`` / ``1007`` are the same numbers; ``12,34`` is two numbers. Abstains, naming the row, where no gold
    answer is a number and nothing else.
    """

    def judge(self, rollout: Rollout) -> Verdict:
        golds = [_value(gold.strip()) for gold in rollout.task.answers if NUMBER.fullmatch(gold.strip())]
        if not golds:
            row = rollout.task.origin or rollout.task.id
            return Verdict.abstain(
                f"no gold answer of {row} is a number: {', '.join(map(repr, rollout.task.answers)) or 'there is none'}"
            )
        last = None
        for last in NUMBER.finditer(rollout.completion):  # noqa: B007  (the last one is wanted)
            pass
        if last is None:
            return Verdict.score(0.0, reason="no number in the completion")
        right = _value(last[0]) in golds
        return Verdict.score(float(right), reason="is the gold number" if right else f"is not {golds[0]}", parsed=last[0])


def _value(number: str) -> Decimal:
    return Decimal(number.replace(",", "").replace("−", "-"))
