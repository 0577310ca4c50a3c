from __future__ import annotations

import re
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackfield_verifiers.normalise import normalise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Eiffel Tower!", "eiffel tower"),
        ("  an\tapple  a\nday ", "apple day"),
        ("twenty-one", "twentyone"),
        ("U.S.A.", "usa"),
        ("theatre", "theatre"),
        ("“Les Misérables”", "les misérables"),
        ("Cafe\u0301", "café"),
        ("２０２４年", "2024年"),
        ("¿Qué?", "qué"),
        ("東京タワー", "東京タワー"),
        ("A", "a"),
        ("The", "the"),
        ("+", "+"),
        ("...", "..."),
        ("", ""),
        (" \u3000\n", ""),
    ],
)
def test_by_hand(text: str, expected: str) -> None:
    """Case, punctuation, articles and white space do not count, in ASCII and beyond; accents do; nothing becomes empty."""
    assert normalise(text) == expected


@given(st.text(alphabet=string.printable))
def test_ascii_is_as_squad(text: str) -> None:
    """For ASCII it is lower case, without punctuation, without articles, without spare white space, unless that leaves nothing."""
    lowered = "".join(c for c in text.lower() if c not in set(string.punctuation))
    squad = " ".join(re.sub(r"\b(a|an|the)\b", " ", lowered).split())
    if squad:
        assert normalise(text) == squad


@given(st.text())
def test_only_white_space_becomes_empty(text: str) -> None:
    """An answer that is not blank never becomes equal to the empty answer."""
    assert (normalise(text) == "") == (text.strip() == "")


@pytest.mark.parametrize("piece", ["a\u0301\u0316", "\u0301\u0316", "the ", "((", "ﷺ", " ", "a"])
def test_is_linear(piece: str) -> None:
    """S10: a degenerate answer of 100,000 characters takes no time to speak of; combining marks alone would make NFKC quadratic."""
    text = "x" + piece * (100_000 // len(piece))
    start = time.process_time()
    normalise(text)
    assert time.process_time() - start < 3
