from __future__ import annotations

import pytest

from jackfield_search.terms import clean_query, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the capital of France?", ["capital", "france"]),
        ("Zürich, ZÜRICH and Zurich", ["zurich", "zurich", "zurich"]),
        ("element 8", ["element", "8"]),
        ("東京タワー 🗼", ["東京タワー"]),
        ("Paris's river", ["paris", "river"]),
        ("１９９０", ["1990"]),
        ("the of and", []),
        ("", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    """Lower case, no accents, no stopwords, single characters kept, full-width digits as digits."""
    assert terms(text) == expected


def test_voiced_marks_stay() -> None:
    """Marks that make another letter (が is not か) are no accents."""
    assert terms("がか") == ["がか"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  capital \n of\t France ", "capital of France"),
        (" \n\t ", ""),
        ("東京タワー 🗼", "東京タワー 🗼"),
        ("half \ud83d pair", "half ? pair"),
    ],
)
def test_clean_query(text: str, expected: str) -> None:
    """White space collapses; every other character stays (T15), halves of surrogate pairs excepted."""
    assert clean_query(text) == expected
