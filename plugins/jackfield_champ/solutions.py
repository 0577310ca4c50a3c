"""Solutions in which people have marked the first wrong step, and the cache of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

from jackfield_champ.build import SHA256, Package, cached

VERSION = 1
"""Raise it with any change that changes what is built: the cache carries it in its name."""


@frozen(kw_only=True)
class Solution:
    """A model's solution of a problem, in steps that joined give its text.

    Example: ``Solution(problem="Sequence_22", …, steps=("Let x = 2.\\n\\n", "So x² = 5.\\n\\n", "Done."), first_wrong=1)``
    """

    problem: str
    question: str
    category: str
    author: str
    steps: tuple[str, ...]
    """Its paragraphs."""
    first_wrong: int | None
    """None: no mistake was found."""

    @property
    def labels(self) -> tuple[float, ...]:
        """By step, 1 while there was no mistake yet; what comes after one builds on it."""
        right = len(self.steps) if self.first_wrong is None else self.first_wrong
        return tuple(float(number < right) for number in range(len(self.steps)))


def load_solutions() -> list[Solution]:
    """All of them in the package's order, from the cache; builds it first if need be."""
    rows = cached(f"champ-steps-{VERSION}-{SHA256[:8]}", "reading the annotated solutions", build)
    return [Solution(**{**row, "steps": tuple(row["steps"])}) for row in rows]


def build(problems: Package) -> Iterator[Solution]:
    """Two models' solutions a problem, each cut at blank lines."""
    for name, row in problems.items():
        for annotated in row.get("fws_annotations", {}).values():
            steps, first_wrong = _in_steps(annotated["text"], annotated["start_idx"])
            yield Solution(
                problem=name.removeprefix("P_"),
                question=row["_text"].strip(),
                category=row["category"],
                author=annotated["author"],
                steps=steps,
                first_wrong=first_wrong,
            )


def _in_steps(text: str, mistake: int | None) -> tuple[tuple[str, ...], int | None]:
    """The paragraphs, and which of them holds the character where the first mistake begins."""
    stripped = text.rstrip()
    pieces = re.findall(r".+?(?:\n\s*\n\s*|\Z)", stripped, re.DOTALL)
    if mistake is None:
        return tuple(pieces), None
    ends = [sum(map(len, pieces[: number + 1])) for number in range(len(pieces))]
    return tuple(pieces), next(number for number, end in enumerate(ends) if mistake < end)
