"""Judges of numbers in text: the last one written, or the one in the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from attrs import frozen

from jackfield.answers import last_answer, tag_name
from jackfield.component import at_least, option
from jackfield.stages import Tokenizer
from jackfield.types import Rollout, Task, Verdict

CURRENCY = r"(?:\\?[$£¥¢\u20a0-\u20cf]\s?)"
SIGNED = rf"(?<![\w)])[-+−]|(?<![\w)$%}}])[-+−]{CURRENCY}"
"""A sign counts only where no operand stands before it (``5-3`` ends in 3, ``= -3`` in -3), and also before a currency's (``-$5``)."""
NUMBER = re.compile(rf"(?:{SIGNED})?(?:(?:\d{{1,3}}(?:,\d{{3}})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)")
"""Commas count only between groups of three."""

QUANTITY = re.compile(
    rf"(?P<number>(?:(?:\A\s*|(?<==)\s?)[-+−–]\s?{CURRENCY}?|(?<![\w)])–|{SIGNED}|(?<![\w)$%}}])–{CURRENCY})?"
    r"(?:(?:\d{1,3}(?:[,\u00a0\u2009\u202f]\d{3})+(?![\d])|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+−]?\d{1,3}(?!\d))?)"
    r"(?P<percent>\s?(?:\\?%|％|per\s?cent\b))?",
    re.IGNORECASE,
)
"""A number as ``number`` reads it: also with an exponent, a percent sign, thin spaces between groups of three, and with a space after its
sign where nothing or ``=`` stands before that."""
LONGEST = 300
"""Characters of one number."""


@frozen(kw_only=True)
class LastNumber:
    """1 if the last number the policy wrote is exactly the gold number, else 0; text after it is no matter.

    ``7``, ``7.0`` and ``1,007`` / ``1007`` are the same numbers; ``12,34`` is two numbers; ``-$5`` is ``-5``. Abstains, naming the row, where no gold
    answer is a number and nothing else.
    """

    def judge(self, rollout: Rollout) -> Verdict:
        golds = [_value(gold.strip()) for gold in rollout.task.answers if NUMBER.fullmatch(gold.strip())]
        if not golds:
            row = rollout.task.origin or rollout.task.id
            return Verdict.abstain(f"no gold answer of {row} is a number: {_listed(rollout.task)}")
        last = None
        for last in NUMBER.finditer(rollout.completion):  # noqa: B007  (the last one is wanted)
            pass
        if last is None:
            return Verdict.score(0.0, reason="no number in the completion")
        right = _value(last[0]) in golds
        return Verdict.score(float(right), reason="is the gold number" if right else f"is not {_named(golds)}", parsed=last[0])


@frozen(kw_only=True)
class Number:
    """1 if the number in the answer is a gold number, exactly or within a tolerance, else 0.

    - The last complete ``<answer>`` of what the policy wrote is read; with ``which = "only"`` it must hold one number, with or without
      words around it (``$42``, ``42 km``). An answer without a number scores 0.
    - ``7``, ``7.0``, ``+7`` and ``0.7e1`` are one number, ``−7`` (Unicode's minus) is ``-7``, and so are ``-$7`` and, at the start or
      after ``=``, ``- 7``. Commas, no-break and thin spaces between
      groups of three digits do not count: ``1,007`` is ``1007``, ``12,34`` is two numbers. The decimal sign is the point.
    - ``50%`` and ``50 percent`` are ``0.5``, not ``50``.

    Abstains, naming the row, where no gold answer holds just one number.
    """

    answer_tag: str = option(
        "answer", help='the last complete <answer_tag>…</answer_tag> is read; "": all the policy wrote', check=tag_name
    )
    which: Literal["only", "first", "last"] = option("only", help="which number of the answer counts; only: it must hold just one")
    absolute_tolerance: float = option(0.0, help="difference from the gold number allowed", check=at_least(0))
    relative_tolerance: float = option(0.0, help="the same, as a part of the gold number; the larger one counts", check=at_least(0))

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:  # noqa: ARG002
        """Why no answer to ``task`` could be judged."""
        return None if _gold_values(task) else f"no gold answer is a number: {_listed(task)}"

    def judge(self, rollout: Rollout) -> Verdict:
        task = rollout.task
        golds = _gold_values(task)
        if not golds:
            return Verdict.abstain(f"no gold answer of {task.origin or task.id} is a number: {_listed(task)}")
        answer = last_answer(rollout, self.answer_tag)
        if answer is None:
            return Verdict.score(0.0, reason=f"no <{self.answer_tag}>…</{self.answer_tag}> in the completion")
        found = [quantity for quantity in QUANTITY.finditer(answer) if len(quantity[0]) <= LONGEST]
        if not found or (self.which == "only" and len(found) > 1):
            return Verdict.score(
                0.0, reason=f"{len(found)} numbers in the answer" if found else "no number in the answer", parsed=answer
            )
        chosen = found[0 if self.which == "first" else -1]
        value = _quantity(chosen)
        right = any(self._near(value, gold) for gold in golds.values())
        written = chosen[0].strip()
        return Verdict.score(float(right), reason=f"{written} is {'' if right else 'not '}{_named(list(golds))}", parsed=written)

    def _near(self, value: Fraction, gold: Fraction) -> bool:
        allowed = max(Fraction(str(self.absolute_tolerance)), Fraction(str(self.relative_tolerance)) * abs(gold))
        return abs(value - gold) <= allowed


def _gold_values(task: Task) -> dict[str, Fraction]:
    """The gold answers that hold just one number, as written, and their values."""
    found = {gold.strip(): [q for q in QUANTITY.finditer(gold) if len(q[0]) <= LONGEST] for gold in task.answers}
    return {gold: _quantity(quantities[0]) for gold, quantities in found.items() if len(quantities) == 1}


def _named(golds: Sequence[object]) -> str:
    return str(golds[0]) if len(golds) == 1 else "a gold number"


def _quantity(found: re.Match[str]) -> Fraction:
    value = Fraction(_plain(found["number"]))
    return value / 100 if found["percent"] else value


def _plain(number: str) -> str:
    return re.sub(r"[^-+.\deE]", "", re.sub("[−–]", "-", number))


def _listed(task: Task) -> str:
    return ", ".join(map(repr, task.answers)) or "there is none"


def _value(number: str) -> Decimal:
    return Decimal(_plain(number))
