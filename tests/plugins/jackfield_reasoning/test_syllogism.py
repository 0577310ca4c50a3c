from __future__ import annotations

import pytest

from jackfield_reasoning.syllogism import follows, mended


@pytest.mark.parametrize(
    ("first", "second", "conclusion", "valid"),
    [
        ("All ants are dolphins", "Some dolphins are not spiders", "Some ants are not spiders", False),  # case V24
        ("All parents are writers", "Some writers are doctors", "Some parents are doctors", False),
        ("All ants are bees", "All bees are cats", "All ants are cats", True),  # Barbara
        ("All ants are bees", "No bees are cats", "No ants are cats", True),  # Celarent
        ("Some ants are bees", "All bees are cats", "Some ants are cats", True),  # Darii
        ("Some ants are bees", "No bees are cats", "Some ants are not cats", True),  # Ferio
        ("All ants are bees", "All bees are cats", "Some ants are cats", True),  # Barbari: there are ants
        ("No ants are bees", "No bees are cats", "No ants are cats", False),
        ("Some ants are bees", "Some bees are cats", "Some ants are cats", False),
        ("No ants are bees", "All bees are cats", "Some cats are not ants", True),  # Fesapo
        ("All ants are bees", "Some cats are bees", "Some bees are ants", True),  # one premise turned round
        ("All ants are bees", "Some cats are bees", "All bees are ants", False),
        ("Some ants are not bees", "All cats are bees", "Some bees are not ants", False),
    ],
)
def test_known_forms(first: str, second: str, conclusion: str, valid: bool) -> None:
    """The moods of the textbooks, and what only looks like them."""
    assert follows([first, second], conclusion) is valid


def test_a_wrong_answer_is_mended() -> None:
    """In the gold answer, and where the package's scorer looks."""
    about = {
        "premise1": "All ants are dolphins",
        "premise2": "Some dolphins are not spiders",
        "conclusion": "Some ants are not spiders",
        "is_valid": True,
    }
    entry = mended({"question": "?", "answer": "Yes", "metadata": about})
    assert (entry["answer"], entry["metadata"]["is_valid"]) == ("No", False)
    with pytest.raises(ValueError, match="no statement"):
        follows(["Most ants are bees"], "Some ants are bees")
