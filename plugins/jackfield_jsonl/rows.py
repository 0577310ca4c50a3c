"""Rows of a file with the place each stands at, for messages: ``.jsonl``, ``.jsonl.gz``, and ``.parquet`` where pyarrow is installed.

Defined for odd files: blank lines are skipped, a byte order mark and CRLF are fine, lines end at line feeds only (a U+2028 within a
text is text), keys with null count as missing.
"""

from __future__ import annotations

import gzip
import importlib
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from jackfield.errors import DataError, Problem, nearest
from jackfield.findings import Findings


@frozen
class Row:
    """Example: ``Row("train.jsonl:12", 12, {"question": "…", "answer": "…"})``"""

    place: str
    number: int
    """The line, or the row of a parquet file; from 1."""
    keys: Mapping[str, Any]
    """Without those that hold null."""


class BadRow(Exception):
    """What is wrong with a row: the key it is about ("" for the row itself), and what was found and expected."""

    def __init__(self, subject: str, message: str) -> None:
        super().__init__(message)
        self.subject, self.message = subject, message

    def at(self, place: str) -> Problem:
        """With the row's place."""
        return Problem(place, self.subject, self.message)


def read_rows(path: Path, findings: Findings) -> Iterator[Row]:
    """All readable rows; the others go to ``findings``. Raises DataError if there is no such file, or no row at all in it."""
    if not path.is_file():
        there = [p.name for p in path.parent.glob("*") if p.is_file()] if path.parent.is_dir() else []
        raise DataError(Problem(str(path), "", f"no such file{nearest(path.name, there)}"))
    empty = True
    for number, content in _contents(path):
        empty = False
        place = f"{path}:{number}"
        try:
            keys = _parsed(content) if isinstance(content, bytes) else content
            yield Row(place, number, {key: value for key, value in keys.items() if value is not None})
        except BadRow as bad:
            findings.add(bad.at(place))
    if empty:
        raise DataError(Problem(str(path), "", "the file has no rows"))


def _contents(path: Path) -> Iterator[tuple[int, bytes | dict[str, Any]]]:
    """Row numbers and rows: lines not yet parsed, or a table's rows."""
    if path.suffix == ".parquet":
        yield from _table(path)
    elif path.suffixes[-1:] == [".jsonl"] or path.suffixes[-2:] == [".jsonl", ".gz"]:
        yield from _lines(path)
    else:
        message = "expected a file that ends with .jsonl, .jsonl.gz or .parquet; write one JSON object a line"
        raise DataError(Problem(str(path), "", message))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                stripped = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
                if stripped:
                    yield number, stripped
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(Problem(str(path), "", f"not a whole gzip file: {error}")) from error


def _table(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        convert = f"pandas.read_parquet('{path.name}').to_json('{path.stem}.jsonl', orient='records', lines=True)"
        message = f"reading parquet needs pyarrow ('pip install pyarrow'); or convert the file with {convert}"
        raise DataError(Problem(str(path), "", message)) from error
    number = 0
    for batch in parquet.ParquetFile(path).iter_batches():
        for row in batch.to_pylist():
            number += 1
            yield number, row


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        keys = json.loads(line.decode())
        json.dumps(keys, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise BadRow("", f"not UTF-8 text: {error.reason} at byte {error.start + 1} of the line") from error
    except UnicodeEncodeError as error:
        raise BadRow("", "holds half a character (a lone surrogate such as \\ud83d), which is no text") from error
    except json.JSONDecodeError as error:
        raise BadRow("", f"not JSON: {error.msg} at column {error.colno}") from error
    if not isinstance(keys, dict):
        raise BadRow("", f"expected a JSON object, found {kind(keys)}")
    return keys


def kind(value: Any) -> str:
    """A JSON value's kind, in words."""
    words = {dict: "an object", list: "a list", str: "a string", bool: "true or false", int: "a number", float: "a number"}
    return words.get(type(value), "null" if value is None else type(value).__name__)
