from __future__ import annotations

import pytest

from jackfield_reasoning.sorting import score_sorted

GIVEN = ["71.08", "-92.85", "-97.8"]


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("['-97.8', '-92.85', '71.08']", 1.0),
        ("['-97.8', '-92.8', '71.1']", 0.0),  # rounded, as a gold answer once was (case V22)
        ('["-97.80", "-92.85", "71.08"]', 1.0),
        ("[-97.8, -92.85, 71.08]", 1.0),
        ("['71.08', '-92.85', '-97.8']", 0.0),
        ("['-97.8', '-92.85']", 0.0),
        ("['-97.8', '-92.85', '71.08', '71.08']", 0.0),
        ("-97.8, -92.85, 71.08", 0.0),
        ("['-97.8', '-92.85', 'NaN']", 0.0),
        ("['-97.8', '-92.85', true]", 0.0),
        ("['-97.8', '-92.85', ['71.08']]", 0.0),
        ("[" * 9_000, 0.0),
        ("[1e999999999]", 0.0),
        ("", 0.0),
    ],
)
def test_ascending(answer: str, value: float) -> None:
    """Exactly the numbers that were given, in order, however they are written."""
    score, reason = score_sorted(answer, GIVEN, "ascending")
    assert score == value
    assert reason


def test_descending() -> None:
    """The other way round; equal numbers stay as many as they were."""
    assert score_sorted("[5, 3.0, 3]", ["3.0", "5.0", "3.0"], "descending")[0] == 1.0
    assert score_sorted("[5, 5, 3]", ["3.0", "5.0", "3.0"], "descending")[0] == 0.0
    assert score_sorted("[3, 3, 5]", ["3.0", "5.0", "3.0"], "descending") == (0.0, "not in descending order")
