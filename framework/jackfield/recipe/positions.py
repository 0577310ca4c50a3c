"""On which line each key of a TOML document stands; tomllib does not say."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

from attrs import define, field

KeyPath = tuple[str | int, ...]
"""Keys of tables and indices of arrays from the root, e.g. ``("losses", 0, "clip_low")``."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_TEXT = re.compile(
    r'"""(?:\\.|(?!""").)*"""(?:"{0,2})'  # a multi-line string may end in up to two quotes of its own
    r"|'''(?:(?!''').)*'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]+")


def positions(text: str) -> dict[KeyPath, int]:
    """Path → line (from 1) of every table, key and array element of ``text``, which must be valid TOML.

    A table stands where its header or its first key is written, an array element where it begins.
    """
    return _Scanner(text).document()


@define
class _Scanner:
    text: str
    at: int = 0
    found: dict[KeyPath, int] = field(factory=dict)
    lengths: dict[KeyPath, int] = field(factory=dict)
    """Of the arrays of tables so far: a header goes on from the last element."""

    def document(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._skip(_BLANK)
        while self.at < len(self.text):
            if self.text.startswith("[[", self.at):
                begin, table = self.at, self._header(2)
                self.lengths[table] = self.lengths.get(table, 0) + 1
                table = (*table, self.lengths[table] - 1)
                self._record(table, begin)
            elif self.text[self.at] == "[":
                table = self._header(1)
            else:
                self._pair(table)
            self._skip(_BLANK)
        line_ends = [match.start() for match in re.finditer("\n", self.text)]
        return {path: bisect_right(line_ends, offset) + 1 for path, offset in self.found.items()}

    def _header(self, brackets: int) -> KeyPath:
        """``[a.b]`` or ``[[a.b]]``; of the path, only tables above the last key go on from the last element of an array."""
        begin = self.at
        self.at += brackets
        *above, last = self._key()
        self.at += brackets
        path = (*self._last_elements(tuple(above)), last)
        for length in range(1, len(path) + 1):
            self._record(path[:length], begin)
        return path

    def _last_elements(self, keys: KeyPath) -> KeyPath:
        path: KeyPath = ()
        for key in keys:
            path = (*path, key)
            if path in self.lengths:
                path = (*path, self.lengths[path] - 1)
        return path

    def _pair(self, table: KeyPath) -> None:
        begin = self.at
        path = table
        for key in self._key():
            path = (*path, key)
            self._record(path, begin)
        self.at += 1  # =
        self._skip(_SPACE)
        self._value(path)

    def _key(self) -> list[str]:
        """A bare, quoted or dotted key, with the space around it."""
        keys = []
        while True:
            self._skip(_SPACE)
            if self.text[self.at] in "\"'":
                keys.append(tomllib.loads(f"key = {self._skip(_TEXT)}")["key"])
            else:
                keys.append(self._skip(_BARE_KEY))
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return keys
            self.at += 1

    def _value(self, path: KeyPath) -> None:
        match self.text[self.at]:
            case '"' | "'":
                self._skip(_TEXT)
            case "[":
                self._enclosed("]", path)
            case "{":
                self._enclosed("}", path)
            case _:
                self._skip(_SCALAR)

    def _enclosed(self, end: str, path: KeyPath) -> None:
        """The elements of an array or the pairs of an inline table."""
        self.at += 1
        index = 0
        self._skip(_BLANK)
        while self.text[self.at] != end:
            if end == "]":
                self._record((*path, index))
                self._value((*path, index))
            else:
                self._pair(path)
            index += 1
            self._skip(_BLANK)
            if self.text[self.at] == ",":
                self.at += 1
                self._skip(_BLANK)
        self.at += 1

    def _record(self, path: KeyPath, offset: int | None = None) -> None:
        self.found.setdefault(path, self.at if offset is None else offset)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        matched = pattern.match(self.text, self.at)
        assert matched is not None, f"not valid TOML at offset {self.at}"
        self.at = matched.end()
        return matched.group()
