"""Text as SQuAD compares it (Rajpurkar et al. 2016), with a defined treatment of Unicode; linear in the length of the text."""

from __future__ import annotations

import re
import string
import unicodedata

LONGEST_MARKS = 30
"""Combining marks kept on one character, as in Unicode's stream-safe format (UAX #15): more would make NFKC take quadratic time."""


def normalise(text: str) -> str:
    """``text`` without what does not count, in this order.

    1. NFKC: one spelling for composed and decomposed, full-width and ligature characters; 2. lower case; 3. punctuation removed
    (ASCII's, and all of Unicode's categories P, so also ``’ “ – ¿``); 4. the words a, an, the removed; 5. white space (any of
    Unicode's) to single spaces, none at the ends. Letters keep their accents. For ASCII this is SQuAD's own normalisation, but for one
    thing: a step that would leave nothing is left out, so that an answer ``A`` or ``+`` can be right and no empty answer equals it.

    Example: ``normalise("The  Eiffel Tower!")`` is ``"eiffel tower"``
    """
    text = " ".join(_compose(text).lower().split())
    text = " ".join(_without_punctuation(text).split()) or text
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", text).split()) or text


def _compose(text: str) -> str:
    if text.isascii():
        return text
    marks, kept = 0, []
    for character in text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= LONGEST_MARKS:
            kept.append(character)
    return unicodedata.normalize("NFKC", "".join(kept))


def _without_punctuation(text: str) -> str:
    return "".join(c for c in text if c not in string.punctuation and not unicodedata.category(c).startswith("P"))
