"""Passages on disk, read one at a time: a corpus may be larger than memory."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

import numpy as np

from jackfield.types import Passage

_TEXT, _STARTS = "passages.jsonl", "starts.npy"


def write(folder: Path, passages: Iterable[Passage]) -> None:
    """One JSON line a passage, and where each line starts."""
    starts = [0]
    with (folder / _TEXT).open("wb") as file:
        for passage in passages:
            line = json.dumps([passage.id, passage.title, passage.text]).encode() + b"\n"
            file.write(line)
            starts.append(starts[-1] + len(line))
    np.save(folder / _STARTS, np.array(starts, np.int64))


class StoredPassages(Sequence[Passage]):
    """What ``write`` wrote, memory-mapped."""

    def __init__(self, folder: Path) -> None:
        self._starts = np.load(folder / _STARTS, mmap_mode="r")
        with (folder / _TEXT).open("rb") as file:
            self._lines = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, index: int) -> Passage: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Passage]: ...
    def __getitem__(self, index: int | slice) -> Passage | Sequence[Passage]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        id, title, text = json.loads(self._lines[self._starts[index] : self._starts[index + 1]])
        return Passage(id=id, title=title, text=text)

    def __iter__(self) -> Iterator[Passage]:
        return (self[i] for i in range(len(self)))


__all__ = ["StoredPassages", "write"]
