from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jackfield.testing.fakes import CharTokenizer
from jackfield_environments.information import information_block

EMPTY = "\n\n<i></i>\n\n"  # 11 tokens, one a character


def block(parts: list[str], budget: int) -> str | None:
    made = information_block(parts, "i", budget, CharTokenizer())
    return made and made.text


def test_everything_that_fits_is_shown() -> None:
    """Parts stand one a line, inside closed tags with a blank line around them, and count as not cut."""
    made = information_block(["one", "two"], "i", 18, CharTokenizer())
    assert made is not None
    assert made.text == "\n\n<i>one\ntwo</i>\n\n"
    assert not made.cut
    assert len(made.tokens) == 18


def test_last_parts_are_dropped_whole() -> None:
    """Pitfall 6: one token too few drops the last part, not its end nor the tag."""
    made = information_block(["one", "two"], "i", 17, CharTokenizer())
    assert made is not None
    assert made.text == "\n\n<i>one</i>\n\n"
    assert made.cut


def test_first_part_is_shortened_by_words_then_by_characters() -> None:
    """Where not even the first part fits it loses its last words; a script without spaces loses characters."""
    assert block(["alpha beta gamma", "x"], len(EMPTY) + 12) == "\n\n<i>alpha beta</i>\n\n"
    assert block(["alpha beta gamma", "x"], len(EMPTY) + 5) == "\n\n<i>alpha</i>\n\n"
    assert block(["東京タワー"], len(EMPTY) + 2) == "\n\n<i>東京</i>\n\n"
    assert block(["alpha"], len(EMPTY)) is None


@given(st.lists(st.text(alphabet="ab \n🗼", max_size=12), min_size=1, max_size=4), st.integers(0, 60))
def test_fits_and_closes(parts: list[str], budget: int) -> None:
    """Whatever the parts and the budget: a block fits, opens and closes, and holds the start of what there was, as much as fits."""
    made = information_block(parts, "i", budget, CharTokenizer())
    whole = "\n".join(parts)
    if made is None:
        assert budget <= len(EMPTY) or budget < len(EMPTY) + len(whole)
        return
    assert len(made.tokens) == len(made.text) <= budget
    assert made.text.startswith("\n\n<i>")
    assert made.text.endswith("</i>\n\n")
    content = made.text[5:-6]
    assert whole.startswith(content)
    assert made.cut == (content != whole)
    if len(EMPTY) + len(whole) <= budget:
        assert content == whole
