"""The tool ``calculator``."""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from jackfield.types import Observation
from jackfield_calculator.arithmetic import NotComputable, compute
from jackfield_calculator.wording import written


@frozen(kw_only=True)
class Calculator:
    """The value of an expression of numbers, ``+ - * / // % **`` and brackets: ``1988 - 1918`` gives ``70``, ``7 / 8`` gives ``0.875``.

    ``%`` is the remainder, ``7 % 3`` gives ``1``, and never percent: ``10% + 5`` and ``10%`` are refused with words that say to divide by
    100; a negative divisor stands in brackets, ``7 % (-3)``.

    Exact: ``0.1 + 0.2`` is ``0.3``. What has no end in decimals or is too long to read is rounded and says so: ``1 / 3`` gives
    ``about 0.333333333333``. As people write: ``×``, ``÷``, ``−`` and ``^`` for ``**``, commas between thousands, ``=`` or ``?`` at the end.
    Nothing is ever run as code, and no input takes long. Whatever cannot be computed is a failure in words that the policy can read.
    """

    name: ClassVar[str] = "calculator"

    def prepare(self) -> None:
        """Nothing to load."""

    async def call(self, text: str) -> Observation:
        try:
            return Observation(parts=(written(compute(text)),))
        except NotComputable as error:
            return Observation(failure=str(error))
