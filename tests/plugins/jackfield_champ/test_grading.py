from __future__ import annotations

import pytest

from jackfield_champ.grading import grade, stated_integers


@pytest.mark.parametrize(
    ("summary", "stated"),
    [
        ("There are 29 strings of length 6 with digits 1, 2 and 3.", {29}),
        ("There are exactly 2,001,000 terms.", {2001000}),
        (r"The smallest value of \( a^2 - 3a \) is \( -9 \), which occurs somewhere.", {-9}),
        (r"The largest value is $\boxed{1}$.", {1}),
        ("The value of a is a = −5.", {-5}),
        ("The smallest value is 2, which occurs when x = 0.", {2, 0}),
        ("The smallest value is -27/4.", set()),
        ("There are 3^1999 terms.", set()),
        ("The value is -959849.5.", set()),
        ("It cannot be determined.", set()),
        ("There are no such numbers.", set()),
        ("The sum of x^3 + 3x^2 - 7x + 1 is 23.", {23}),
    ],
)
def test_what_a_sentence_states(summary: str, stated: set[int]) -> None:
    """Integers in the place of an answer; fractions, powers, decimals and the numbers of the problem are none."""
    assert stated_integers(summary) == stated


def test_grades() -> None:
    """Graded where the summary states one integer and the solution ends with it: a doubtful answer is lost and not mislabelled."""
    assert grade("Then 3 + 4 = 7.", "The answer is 7.", 7) == "right"
    assert grade("Then 3 + 4 = 7.", "The answer is 7.", -7) == "wrong"
    assert grade("So 1{,}234 it is.", "The answer is 1,234.", 1234) == "right"
    assert grade("At x = 7 it is 2.", "It is 2, which occurs when x = 7.", 7) == "ungraded"
    assert grade("There are 0.", "There are none.", 0) == "ungraded"


def test_a_summary_that_mends_the_solution_is_no_grade() -> None:
    """The solution says 4400, its summary knows better: as an answer to learn from it would be mislabelled, so it is left out."""
    assert grade("Therefore it is 4400.", "It is 7744.", 7744) == "ungraded"
    assert grade(f"7744 {'.' * 300} so it is 4400", "It is 7744.", 7744) == "ungraded"
