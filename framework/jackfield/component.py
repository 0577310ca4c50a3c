"""What a component is: one attrs class whose fields are its recipe keys.

A component is cheap to construct (no file, network or model is touched, no torch imported): ``jackfield check`` builds every
component of a recipe. The work starts in its methods. Write one like this::

    from attrs import frozen
    from jackfield.component import option

    @frozen(kw_only=True)
    class Gae:
        \"\"\"Generalised advantage estimation (Schulman et al. 2015, eq. 16).\"\"\"

        gamma: float = option(1.0, help="discount per policy token")
        lam: float = option(1.0, help="exponential weight λ")

Field types understood by recipes: bool, int, float, str, Path (relative to the recipe's file), Literal[...], tuple[T, ...],
dict[str, T], T | None, and, through ``part``, another component.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

HELP = "jackfield.help"
PART = "jackfield.part"


def option(default: Any = attrs.NOTHING, *, help: str, check: Callable[[Any], str | None] | None = None) -> Any:
    """A recipe key. Without ``default`` the user must decide. ``check`` returns what is wrong with a value, or None."""
    return attrs.field(default=default, metadata={HELP: help}, validator=None if check is None else _validator(check))


def part(kind: str, default: Any = attrs.NOTHING, *, help: str) -> Any:
    """A recipe key that holds another component of ``kind``: ``corpus = "vitalwiki"`` or ``corpus = {use = "jsonl", path = "…"}``."""
    return attrs.field(default=default, metadata={HELP: help, PART: kind})


def at_least(low: float) -> Callable[[Any], str | None]:
    """A check for ``option``: the value is ``low`` or more."""
    return lambda value: None if value >= low else f"must be at least {low}, found {value}"


def positive(value: Any) -> str | None:
    """A check for ``option``: the value is above 0."""
    return None if value > 0 else f"must be above 0, found {value}"


def fraction(value: Any) -> str | None:
    """A check for ``option``: the value lies in [0, 1]."""
    return None if 0 <= value <= 1 else f"must lie between 0 and 1, found {value}"


def _validator(check: Callable[[Any], str | None]) -> Callable[[Any, attrs.Attribute[Any], Any], None]:
    def validate(_: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        wrong = check(value)
        if wrong is not None:
            raise ValueError(f"{attribute.name}: {wrong}")

    return validate
