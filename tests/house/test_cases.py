"""tests/cases.md lists what tests pin."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_every_case_has_a_test() -> None:
    rows = re.findall(r"^\| ([A-Z]\d+(?:, [A-Z]\d+)*) \|", (TESTS / "cases.md").read_text(encoding="utf-8"), re.MULTILINE)
    listed = [case for row in rows for case in row.split(", ")]
    named = {case for path in TESTS.rglob("test_*.py") for case in re.findall(r"\b[A-Z]\d+\b", path.read_text(encoding="utf-8"))}
    assert len(listed) > 60
    assert len(set(listed)) == len(listed)
    assert [case for case in listed if case not in named] == []
