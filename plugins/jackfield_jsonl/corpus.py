"""The user's own passages, in the format of Search-R1's corpora."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from attrs import frozen

from jackfield.component import option
from jackfield.errors import DataError, Problem
from jackfield.findings import Findings
from jackfield.types import Passage
from jackfield_jsonl.rows import BadRow, Row, kind, read_rows


@frozen(kw_only=True)
class JsonlCorpus:
    r"""One passage a line: ``{"id": "0", "contents": "\"Title\"\ntext"}`` (the first line is the title) or
    ``{"id": "0", "title": "Title", "text": "text"}``. All passages are held in memory; for millions, let a server hold them."""

    path: Path = option(help="file of passages: .jsonl, .jsonl.gz, or .parquet if pyarrow is installed")

    def passages(self) -> list[Passage]:
        """All passages in the file's order. Raises DataError for every bad row at once."""
        findings, passages, places = Findings(), [], dict[str, str]()
        for row in read_rows(self.path, findings):
            try:
                passage = _passage(row)
                if (other := places.setdefault(passage.id, row.place)) != row.place:
                    raise BadRow("id", f"'{passage.id}' is the id of {other} too")
                passages.append(passage)
            except BadRow as bad:
                findings.add(bad.at(row.place))
        findings.raise_any()
        return passages

    @property
    def fingerprint(self) -> str:
        """Of the file's place, size and time of change. Raises DataError if there is no such file."""
        try:
            stat = self.path.stat()
        except OSError as error:
            raise DataError(Problem(str(self.path), "", "no such file")) from error
        told = f"{self.path.resolve()}\0{stat.st_size}\0{stat.st_mtime_ns}"
        return f"jsonl-{hashlib.sha256(told.encode()).hexdigest()[:16]}"


def _passage(row: Row) -> Passage:
    own = row.keys.get("id")
    if isinstance(own, bool) or not isinstance(own, (str, int)):
        raise BadRow("id", f"expected text or a whole number, found {kind(own)}")
    if "contents" in row.keys:
        title, line_feed, text = _text(row, "contents").partition("\n")
        return Passage(id=str(own), title=_unquoted(title), text=text) if line_feed else Passage(id=str(own), title="", text=title)
    if "text" not in row.keys:
        raise BadRow("contents", f"is missing or null, and so is 'text'; found the keys {', '.join(map(repr, row.keys))}")
    return Passage(id=str(own), title=_text(row, "title") if "title" in row.keys else "", text=_text(row, "text"))


def _text(row: Row, key: str) -> str:
    value: Any = row.keys[key]
    if not isinstance(value, str):
        raise BadRow(key, f"expected text, found {kind(value)}")
    return value


def _unquoted(title: str) -> str:
    title = title.strip()
    return title[1:-1] if len(title) > 1 and title[0] == title[-1] == '"' else title
