from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jackfield.errors import DataError
from jackfield.findings import Findings
from jackfield_jsonl.rows import read_rows

Write = Callable[..., Path]


def read(path: Path) -> list[tuple[int, dict[str, Any]]]:
    findings = Findings()
    rows = [(row.number, dict(row.keys)) for row in read_rows(path, findings)]
    findings.raise_any()
    return rows


def test_lines_are_numbered_as_in_an_editor(write: Write) -> None:
    """Blank lines are skipped and counted, a byte order mark and CRLF are no part of a row."""
    path = write(b'\xef\xbb\xbf{"a": 1}\r', "", "  \r", {"a": 2})
    assert read(path) == [(1, {"a": 1}), (4, {"a": 2})]


def test_unicode_line_separators_stay_within_a_row(write: Write) -> None:
    """U+2028 and U+0085 are characters of a text, not ends of a line; unicode comes through unchanged."""
    text = "東京タワー 🗼\u2028next\u0085line\x0b"
    path = write('{"a": "' + text.replace("\x0b", "\\u000b") + '"}')
    assert read(path) == [(1, {"a": text})]


def test_null_is_missing(write: Write) -> None:
    """A column filled with null for a row that lacks the key (case D3) is no key."""
    assert read(write({"a": None, "b": 0, "c": ""})) == [(1, {"b": 0, "c": ""})]


def test_the_last_line_needs_no_line_feed(tmp_path: Path) -> None:
    """A file may end within its last row."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": 2}')
    assert len(read(path)) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"a": 1', r":2: not JSON: Expecting ',' delimiter at column 8"),
        (b"[1]", ":2: expected a JSON object, found a list"),
        (b'{"a": "\xff"}', ":2: not UTF-8 text: invalid start byte at byte 8 of the line"),
        (b'{"a": "\\ud83d"}', ":2: holds half a character"),
    ],
)
def test_unreadable_lines_name_file_and_line(line: bytes, message: str, write: Write) -> None:
    """Broken JSON, other values than objects, other encodings, half characters."""
    path = write({"a": 1}, line, {"a": 3})
    with pytest.raises(DataError) as raised:
        read(path)
    assert str(raised.value).startswith(str(path))
    assert message in str(raised.value)


def test_gzip(tmp_path: Path) -> None:
    """``.jsonl.gz`` is read as it is; a cut-off file says so."""
    path = tmp_path / "rows.jsonl.gz"
    whole = gzip.compress(b'{"a": 1}\n' * 1000)
    path.write_bytes(whole)
    assert len(read(path)) == 1000
    path.write_bytes(whole[:-9])
    with pytest.raises(DataError, match="not a whole gzip file"):
        read(path)


def test_files_that_give_no_rows(write: Write, tmp_path: Path) -> None:
    """Empty files, missing files (with the nearest there is), and files of another kind are refused."""
    with pytest.raises(DataError, match=r"rows.jsonl: the file has no rows"):
        read(write("", "   "))
    with pytest.raises(DataError, match=r"row.jsonl: no such file; did you mean 'rows.jsonl'\?"):
        read(tmp_path / "row.jsonl")
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "nowhere" / "rows.jsonl")
    with pytest.raises(DataError, match=r"expected a file that ends with \.jsonl"):
        read(write("[]", name="rows.json"))


def test_parquet_needs_pyarrow_and_says_how_to_do_without(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the package and the conversion."""
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(DataError, match=r"pip install pyarrow.*to_json\('rows.jsonl'"):
        read(write(name="rows.parquet"))


def test_parquet_rows_are_numbered(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Across batches, from 1, null again missing."""
    batches = [
        SimpleNamespace(to_pylist=lambda: [{"a": 1, "b": None}, {"a": 2, "b": None}]),
        SimpleNamespace(to_pylist=lambda: [{"a": 3}]),
    ]
    reader = SimpleNamespace(ParquetFile=lambda path: SimpleNamespace(iter_batches=lambda: iter(batches)))
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", reader)
    assert read(write(name="rows.parquet")) == [(1, {"a": 1}), (2, {"a": 2}), (3, {"a": 3})]
