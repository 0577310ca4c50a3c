from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackfield_search.terms import terms
from jackfield_search.window import best_window

EQUAL: Callable[[str], float] = lambda _: 1.0  # noqa: E731


def test_short_passages_are_shown_whole() -> None:
    """A passage of no more words than the window is given as it is, white space collapsed."""
    assert best_window("one  two\nthree", "two", title="", size=3, weight=EQUAL) == "one two three"


def test_the_window_with_the_heaviest_overlap_wins() -> None:
    """Two light words far from a heavy one: the heavy one is shown, in the middle of the windows that hold it."""
    text = "light gray x x x x x heavy x x"
    weights = {"light": 1.0, "gray": 1.0, "heavy": 3.0}
    found = best_window(text, "light gray heavy", title="", size=3, weight=weights.__getitem__)
    assert found == "x heavy x"


def test_a_repeated_term_counts_once() -> None:
    """Three times the same word is no better than once: two different words win."""
    assert best_window("a1 a1 a1 x x b1 c1 x", "a1 b1 c1", title="", size=3, weight=EQUAL) == "x b1 c1"


def test_ties_take_the_earliest_run() -> None:
    """The word stands twice, equally good: the first place is shown, with words on both sides of it."""
    assert best_window("x1 x2 x3 hit x4 x5 y1 y2 y3 hit y4 y5", "hit", title="", size=3, weight=EQUAL) == "x3 hit x4"


def test_words_of_the_title_do_not_pull() -> None:
    """The first sentence repeats the title; what the query asks beyond it decides."""
    text = "Ada Lovelace was a writer and countess much later she was born on 10 December 1815 in London"
    found = best_window(text, "when was Ada Lovelace born", title="Ada Lovelace", size=5, weight=EQUAL)
    assert found == "she was born on 10"


def test_nothing_in_common_shows_the_head() -> None:
    """A query that shares nothing with the text gets the beginning."""
    assert best_window("one two three four", "zebra", title="", size=2, weight=EQUAL) == "one two"


WORDS = st.lists(st.sampled_from(["a1", "b1", "c1", "d1", "the", "x."]), min_size=1, max_size=30)


@given(text=WORDS, query=WORDS, size=st.integers(1, 12), weights=st.lists(st.floats(0, 9), min_size=5, max_size=5))
def test_no_window_is_better(text: list[str], query: list[str], size: int, weights: list[float]) -> None:
    """The window shown is as long as asked, stands in the text, and no other one weighs more."""
    by_term = dict(zip(["a1", "b1", "c1", "d1", "x"], weights, strict=True))
    shown = best_window(" ".join(text), " ".join(query), title="", size=size, weight=by_term.__getitem__).split()

    def overlap(words: list[str]) -> float:
        return sum(round(by_term[term] * 2**20) for term in set(terms(" ".join(words))) & set(terms(" ".join(query))))

    windows = [text[start : start + size] for start in range(max(len(text) - size, 0) + 1)]
    assert shown in windows
    assert overlap(shown) == max(map(overlap, windows))
    assert len(shown) == min(size, len(text))


@pytest.mark.parametrize("repeat", [1, 2])
def test_the_same_call_gives_the_same_window(repeat: int) -> None:
    """Sums of weights in another order must not move the window: 0.1 + 0.2 + 0.3 is the same from either end."""
    weights = {"a1": 0.1, "b1": 0.2, "c1": 0.3}
    text = "a1 b1 c1 x x x x c1 b1 a1"
    assert best_window(text, "a1 b1 c1", title="", size=3, weight=weights.__getitem__) == "a1 b1 c1"
