"""What is wrong with the rows of a data set, kind by kind: a thousand rows without an answer are one line, not a thousand."""

from __future__ import annotations

import re

from attrs import define, field

from jackfield.errors import DataError, Problem

MOST_KINDS = 20
"""Kinds written out; the rows of the others are counted."""
MOST_PLACES = 3
"""Further rows of a kind that are named."""


@define
class Findings:
    """Gathers problems of rows. Those that differ only in numbers (a row's, a length) are of one kind."""

    count: int = field(init=False, default=0)
    _kinds: dict[str, _Kind] = field(init=False, factory=dict)

    def add(self, problem: Problem, kind: str | None = None) -> None:
        """One more row. ``kind`` is what it has in common with others: subject and message, unless the subject is the row itself."""
        self.count += 1
        common = re.sub(r"\d+", "#", f"{problem.subject}: {problem.message}" if kind is None else kind)
        found = self._kinds.setdefault(common, _Kind(problem))
        found.count += 1
        if 1 < found.count <= 1 + MOST_PLACES:
            found.others.append(problem.place or problem.subject)

    def raise_any(self) -> None:
        """Raises DataError if anything is wrong."""
        if self.count:
            raise DataError(self.problems())

    def problems(self) -> list[Problem]:
        """A line a kind: its first row's, with how many others there are and where the first of them stand."""
        kinds = list(self._kinds.values())
        more = sum(kind.count for kind in kinds[MOST_KINDS:])
        return [kind.told() for kind in kinds[:MOST_KINDS]] + ([Problem("", "", f"… and {more} more")] if more else [])


@define
class _Kind:
    first: Problem
    count: int = 0
    others: list[str] = field(factory=list)

    def told(self) -> Problem:
        if not self.others:
            return self.first
        more = ", …" if self.count > 1 + len(self.others) else ""
        also = f"(and {self.count - 1} more like it: {', '.join(self.others)}{more})"
        return Problem(self.first.place, self.first.subject, f"{self.first.message} {also}")
