"""The part of a passage that is shown for a query, where a whole passage would cost too many tokens."""

from __future__ import annotations

from collections.abc import Callable

from jackfield_search.terms import terms

_FIXED_POINT = 1 << 20
"""Weights are summed as integers, so that equal windows are exactly equal whatever the order of the sum."""


def best_window(text: str, query: str, *, title: str, size: int, weight: Callable[[str], float]) -> str:
    """``size`` consecutive words of ``text``: those whose distinct terms shared with ``query`` weigh most, joined by single spaces.

    Terms of the title count nothing: they are shown anyway, and would pull every window to the passage's first sentence. Of windows
    that weigh the same, the earliest unbroken run of starts is taken, and its middle: what answers a question stands on either side
    of the words that it shares with the passage, and the first of the run would end right at the last of those words.
    """
    words = text.split()
    if len(words) <= size:
        return " ".join(words)
    start = _best_start(words, set(terms(query)) - set(terms(title)), size, weight)
    return " ".join(words[start : start + size])


def _best_start(words: list[str], wanted: set[str], size: int, weight: Callable[[str], float]) -> int:
    shared = [wanted.intersection(terms(word)) for word in words]
    weights = {term: round(weight(term) * _FIXED_POINT) for term in set().union(*shared)}
    overlaps = [sum(weights[term] for term in set().union(*shared[start : start + size])) for start in range(len(words) - size + 1)]
    best = max(overlaps)
    if best == 0:
        return 0
    first = overlaps.index(best)
    last = next((start for start in range(first, len(overlaps)) if overlaps[start] != best), len(overlaps)) - 1
    return (first + last) // 2
