from __future__ import annotations

import pytest

from jackfield_reasoning.arithmetic import TARGETS, score_expression


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("(1 + 2) * 8", 1.0),
        ("8*(2 - -1)", 1.0),  # 8 × 3
        ("8 / (1 / 2) + 8", 0.0),  # 24, but with a second 8
        ("12 * 2", 0.0),  # the target with numbers not in the list (case V23)
        ("24", 0.0),
        ("(1 + 2) * 8 = 24", 0.0),
        ("1 + 2 * 8", 0.0),
        ("8 / (1 - 1)", 0.0),
        ("8 ** 2 ** 1", 0.0),
        ("1_2 * 2", 0.0),
        ("__import__('os').getpid()", 0.0),
        ("(" * 90 + "1" + ")" * 90, 0.0),
        ("True + 2 * 8", 0.0),
        ("1+" * 150 + "1", 0.0),
        ("", 0.0),
        ("24.0", 0.0),
    ],
)
def test_expressions_over_1_2_8(answer: str, value: float) -> None:
    """Just the given numbers, each once, and 24 exactly; whatever else a text may be scores 0 and is never evaluated."""
    score, reason = score_expression(answer, [8, 1, 2], 24)
    assert score == value
    assert reason


def test_fractions_are_exact() -> None:
    """8 / (3 − 8/3) is 24, which floats miss; 49/2 is not 24, which a cut to an integer would take for it."""
    assert score_expression("8 / (3 - 8 / 3)", [3, 3, 8, 8], 24)[0] == 1.0
    assert score_expression("49 / 2", [49, 2], 24)[0] == 0.0


def test_targets() -> None:
    """Where the number to be reached stands."""
    assert TARGETS["countdown"]({"target": 312}) == 312
    assert TARGETS["puzzle24"]({}) == 24
