"""A recipe with nothing left open: as TOML that loads again to the same run, and as a digest of what determines results."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jackfield.recipe.tree import Node, plain

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
NO_RESULT = ("title", "requires", "plugins", "evaluate", "checkpoint", "trackers")
"""Keys that change no weight of the trained model."""
LARGE = 2**26
"""Bytes of a file above which its size and time of change stand for its content, so that a recipe is still read at once."""


def digest(tree: Mapping[str, Node], files: Sequence[Path], chained: Mapping[str, str]) -> str:
    """SHA-256, in hex, of every setting that results depend on, of the content of ``files`` (local plugins, rows, functions: whatever the
    recipe names) and of the recipes that weights come from (``chained``: place of the component → that recipe's digest).

    Titles, provenance, trackers, evaluation and checkpoints are left out, and so are versions: an update of a plugin does not
    make a finished run another run.
    """
    values = {key: plain(node) for key, node in tree.items() if key not in NO_RESULT}
    for subject, source in chained.items():
        table: Any = values
        for key in subject.split("."):
            table = table[int(key) if key.isdigit() else key]
        table["from"] = source
    return hashlib.sha256(json.dumps([values, [*map(_content, files)]], sort_keys=True).encode()).hexdigest()


def _content(file: Path) -> str:
    stat = file.stat()
    if stat.st_size > LARGE:
        return f"{stat.st_size} bytes of {stat.st_mtime_ns}"
    return hashlib.sha256(file.read_bytes()).hexdigest()


def to_toml(tree: Mapping[str, Node], header: Sequence[str]) -> str:
    """The recipe, every value followed by where it came from."""
    lines = [*(f"# {_one_line(line)}" for line in header), "", *_table((), tree)]
    return "\n".join(lines) + "\n"


def _table(path: tuple[str, ...], keys: Mapping[str, Node]) -> Iterator[str]:
    """Plain keys first: what follows a sub-table's header would belong to it."""
    below = {key: node for key, node in keys.items() if _has_header(node)}
    for key, node in keys.items():
        if key not in below:
            yield f"{_key(key)} = {toml_value(plain(node))}  # {_one_line(node.origin.place)}"
    for key, node in below.items():
        inner = (*path, key)
        name = ".".join(map(_key, inner))
        for item in node.value if isinstance(node.value, list) else [node]:
            yield ""
            yield f"[[{name}]]" if item is not node else f"[{name}]"
            yield from _table(inner, item.value)


def _has_header(node: Node) -> bool:
    return node.is_table or (isinstance(node.value, list) and bool(node.value) and all(item.is_table for item in node.value))


def toml_value(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {toml_value(item)}' for key, item in value.items())}}}"
    return repr(value)


def _key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else toml_value(key)


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
