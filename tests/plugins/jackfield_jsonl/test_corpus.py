from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jackfield.errors import DataError
from jackfield.types import Passage
from jackfield_jsonl.corpus import JsonlCorpus

Write = Callable[..., Path]


def test_both_formats(write: Write) -> None:
    """Search-R1's contents (title in quotes on the first line) and separate keys; numbers as ids; no title is an empty one."""
    path = write(
        {"id": "0", "contents": '"Eiffel Tower"\nA tower.\nIn Paris.'},
        {"id": 1, "title": "Louvre", "text": "A museum."},
        {"id": 2, "contents": "only text"},
        {"id": 3, "text": "東京"},
        {"id": 4, "contents": 'The "A" and the "B"\ntext'},
    )
    assert JsonlCorpus(path=path).passages() == [
        Passage(id="0", title="Eiffel Tower", text="A tower.\nIn Paris."),
        Passage(id="1", title="Louvre", text="A museum."),
        Passage(id="2", title="", text="only text"),
        Passage(id="3", title="", text="東京"),
        Passage(id="4", title='The "A" and the "B"', text="text"),
    ]


def test_all_bad_passages_are_named(write: Write) -> None:
    """Missing or doubled ids, missing or odd texts, each with its line."""
    good = {"id": 0, "text": "x"}
    path = write(good, {"text": "x"}, {"id": 1}, {"id": 2, "text": 5}, good)
    with pytest.raises(DataError) as raised:
        JsonlCorpus(path=path).passages()
    assert str(raised.value).splitlines() == [
        f"{path}:2: id: expected text or a whole number, found null",
        f"{path}:3: contents: is missing or null, and so is 'text'; found the keys 'id'",
        f"{path}:4: text: expected text, found a number",
        f"{path}:5: id: '0' is the id of {path}:1 too",
    ]


def test_the_fingerprint_follows_the_file(write: Write) -> None:
    """It changes with the content's size or time of change, and needs the file."""
    path = write({"id": 0, "text": "x"})
    before = JsonlCorpus(path=path).fingerprint
    assert JsonlCorpus(path=path).fingerprint == before
    os.utime(path, ns=(1, 1))
    assert JsonlCorpus(path=path).fingerprint != before
    with pytest.raises(DataError, match="no such file"):
        _ = JsonlCorpus(path=path.parent / "other.jsonl").fingerprint
