from __future__ import annotations

from pathlib import Path

import pytest

from jackfield.types import Passage
from jackfield_search.passages import StoredPassages, write


def test_passages_come_back_as_they_were(tmp_path: Path) -> None:
    """Line breaks, quotes, scripts, emoji and empty strings survive; every place is found."""
    texts = ["plain", 'a "quoted"\nline\r\n', "東京タワー 🗼\u2028", "", "\\n"]
    passages = [Passage(id=f"p{i}", title=text[::-1], text=text) for i, text in enumerate(texts)]
    write(tmp_path, passages)
    stored = StoredPassages(tmp_path)
    assert list(stored) == passages
    assert [stored[i] for i in (4, 0, 2)] == [passages[i] for i in (4, 0, 2)]
    assert stored[1:3] == passages[1:3]


@pytest.mark.parametrize("index", [-1, 2])
def test_there_is_no_passage_outside(tmp_path: Path, index: int) -> None:
    """F1: -1 is not the last passage."""
    write(tmp_path, [Passage(id="a", title="", text=""), Passage(id="b", title="", text="")])
    with pytest.raises(IndexError):
        StoredPassages(tmp_path)[index]
