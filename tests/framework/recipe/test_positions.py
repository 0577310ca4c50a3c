"""Every key of a TOML document is found on the line it is written on."""

from __future__ import annotations

import string
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackfield.recipe.positions import positions

DOCUMENT = '''\
# a comment with [brackets] and key = "value"
title = "x"   # = "y"
"quoted.key" = 1
a.b . 'c' = 2
long = """
not_a_key = 1
[not.a.table]
a quote: \\""" and two at the end""\"""
raw = \'\'\'
x = "'' \'\'\'
after = 3

[table]
list = [
    1, # one
    [2,
     3],
    {k = "]", l = [
       4]},
]
inline = { x = 1, y.z = "}" }
when = 1979-05-27 07:32:00

[[losses]]
use = "a"
  [losses.part]
  use = "b"

[[losses]]
use = "c"

[[losses.deep]]
k = 1
[[losses.deep]]
k = 2
[other.sub]
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("quoted.key",), 3),
        (("a",), 4),
        (("a", "b", "c"), 4),
        (("long",), 5),
        (("raw",), 9),
        (("after",), 11),
        (("table",), 13),
        (("table", "list", 0), 15),
        (("table", "list", 1), 16),
        (("table", "list", 1, 1), 17),
        (("table", "list", 2, "k"), 18),
        (("table", "list", 2, "l", 0), 19),
        (("table", "inline", "y", "z"), 21),
        (("table", "when"), 22),
        (("losses", 0, "use"), 25),
        (("losses", 0, "part", "use"), 27),
        (("losses", 1), 29),
        (("losses", 1, "use"), 30),
        (("losses", 1, "deep", 1, "k"), 35),
        (("other", "sub"), 36),
    ],
)
def test_every_form_of_key_is_found_on_its_line(path: tuple[str | int, ...], line: int) -> None:
    """Tables, arrays of tables, dotted and quoted keys, inline tables and arrays over several lines."""
    assert positions(DOCUMENT)[path] == line


def test_the_paths_found_are_those_that_tomllib_reads() -> None:
    """Nothing is missed and nothing invented, inside strings least of all."""
    assert set(positions(DOCUMENT)) == set(paths(tomllib.loads(DOCUMENT)))


def test_windows_line_ends_count_once() -> None:
    """A file written on Windows has the same lines."""
    assert positions("a = 1\r\nb = [\r\n2]\r\n") == {("a",): 1, ("b",): 2, ("b", 0): 3}


def paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [path] if path else []
    for key, item in items:
        found += paths(item, (*path, key))
    return found


keys = st.one_of(st.text(string.ascii_letters + "-_1", min_size=1, max_size=4), st.text("a.\"'= #[]{}\\é", max_size=4))
scalars = st.one_of(st.text("ab\"'\\#=\n[]{},é", max_size=8), st.integers(), st.booleans())
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=6)


def basic(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def multiline(text: str) -> str:
    return '"""\n' + text.replace("\\", "\\\\").replace('"""', '""\\"') + '"""'


class Writer:
    """Writes values as TOML in a form that ``draw`` chooses, and notes the line of every path."""

    def __init__(self, draw: Any) -> None:
        self.draw, self.text, self.lines = draw, "", {}

    def note(self, path: tuple[str | int, ...]) -> None:
        self.lines[path] = self.text.count("\n") + 1

    def value(self, value: Any, path: tuple[str | int, ...], one_line: bool = False) -> None:
        if isinstance(value, bool):
            self.text += str(value).lower()
        elif isinstance(value, int):
            self.text += str(value)
        elif isinstance(value, str):
            fits = not one_line and not value.endswith('"')
            self.text += multiline(value) if fits and self.draw(st.booleans()) else basic(value)
        elif isinstance(value, list):
            self.text += "["
            for index, item in enumerate(value):
                self.text += "" if one_line else self.draw(st.sampled_from(["", "\n  ", " # ] }\n"]))
                self.note((*path, index))
                self.value(item, (*path, index), one_line)
                self.text += ","
            self.text += "]"
        else:
            self.text += "{"
            for index, (key, item) in enumerate(value.items()):
                self.text += ", " if index else " "
                self.note((*path, key))
                self.text += f"{basic(key)} = "
                self.value(item, (*path, key), one_line=True)
            self.text += "}"


@given(st.data(), st.dictionaries(keys, values, max_size=5))
def test_any_document_written_with_known_lines_is_read_back_with_them(data: st.DataObject, document: dict[str, Any]) -> None:
    """Whatever the values hold: quotes, brackets, comments and newlines inside strings move nothing."""
    writer = Writer(data.draw)
    for key, value in document.items():
        writer.note((key,))
        writer.text += f"{basic(key)} = "
        writer.value(value, (key,))
        writer.text += data.draw(st.sampled_from(["\n", " # x = [\n", "\n\n"]))
    assert tomllib.loads(writer.text) == document
    assert positions(writer.text) == writer.lines
