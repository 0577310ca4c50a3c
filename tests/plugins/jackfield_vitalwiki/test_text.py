from __future__ import annotations

from collections import Counter

from jackfield_vitalwiki.text import clean, distinct, draw, mentions, rank, unaccented, words


def test_clean_removes_markup_entities_and_odd_space() -> None:
    """Tags vanish, breaks become spaces, doubly escaped entities are resolved; nothing stays nothing."""
    assert clean("R&amp;eacute;union<br/>is  an\xa0<em>island</em> ") == "Réunion is an island"
    assert clean(None) == ""


def test_mentions_compares_whole_words() -> None:
    """Case, punctuation and articles don't matter, parts of words don't count."""
    assert mentions("Ruled by the U.S., then free.", "US") is False
    assert mentions("The Hague (Netherlands)", "hague")
    assert not mentions("Nigeria", "Niger")
    assert words("The  “Big”, bad_wolf!") == "big bad wolf"


def test_unaccented_and_distinct() -> None:
    """Accents go, order of first occurrence stays, empty names are dropped."""
    assert unaccented("Côte d'Ivoire") == "Cote d'Ivoire"
    assert distinct(["b", "", "a", "b"]) == ("b", "a")


def test_rank_and_draw_are_fixed_and_spread() -> None:
    """The same strings give the same number on any machine (pinned); draws use all choices about equally."""
    assert rank("split", "France") == 0xF1A359170322C77F  # printf "split\0France" | sha256sum
    assert rank("ab", "c") != rank("a", "bc")
    counts = Counter(draw("xyz", str(n)) for n in range(3000))
    assert all(900 < counts[choice] < 1100 for choice in "xyz")
