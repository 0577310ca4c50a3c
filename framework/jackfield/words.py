"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 step``, ``12 800 rollouts``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}".replace(",", " ")
