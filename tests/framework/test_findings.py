"""Rows that are wrong in the same way are one line."""

from __future__ import annotations

import pytest

from jackfield.errors import DataError, Problem
from jackfield.findings import Findings


def found(*problems: Problem) -> list[str]:
    findings = Findings()
    for problem in problems:
        findings.add(problem)
    return [str(problem) for problem in findings.problems()]


def test_rows_of_one_kind_are_told_once() -> None:
    """Numbers aside: by the first, the count of the others, and where three of them stand."""
    long = [Problem(f"a.jsonl:{n}", f"task t/{n}", f"the prompt has {600 + n} tokens") for n in range(1, 7)]
    other = Problem("a.jsonl:4", "task t/4", "has no answer")
    assert found(*long[:3], other, *long[3:]) == [
        "a.jsonl:1: task t/1: the prompt has 601 tokens (and 5 more like it: a.jsonl:2, a.jsonl:3, a.jsonl:4, …)",
        "a.jsonl:4: task t/4: has no answer",
    ]
    assert found(*long[:2]) == ["a.jsonl:1: task t/1: the prompt has 601 tokens (and 1 more like it: a.jsonl:2)"]
    assert found(long[0]) == ["a.jsonl:1: task t/1: the prompt has 601 tokens"]


def test_rows_without_a_place_are_named_by_what_they_are_about() -> None:
    """Generated tasks stand in no file."""
    assert found(Problem("", "task t/1", "no"), Problem("", "task t/2", "no")) == ["task t/1: no (and 1 more like it: task t/2)"]


def test_what_rows_have_in_common_may_be_said() -> None:
    """Where the subject is a row's own name."""
    findings = Findings()
    for name in ("one", "two"):
        findings.add(Problem("", f"task {name}", "no"), "no")
    assert [str(problem) for problem in findings.problems()] == ["task one: no (and 1 more like it: task two)"]


def test_twenty_kinds_are_shown() -> None:
    """The rows of the others are a number."""
    lines = found(*(Problem(f"a:{n}", "key", "x" * (n // 2)) for n in range(46)))  # 23 kinds of two rows
    assert len(lines) == 21
    assert lines[-1] == "… and 6 more"


def test_nothing_wrong_raises_nothing() -> None:
    """And anything raises all of it."""
    findings = Findings()
    findings.raise_any()
    findings.add(Problem("a:1", "", "no"))
    with pytest.raises(DataError, match=r"^a:1: no$"):
        findings.raise_any()
