"""Cleaning, comparing and choosing text, the same on every machine."""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

_PUNCTUATION = re.compile(r"[^\w\s]|_")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def clean(markup: str | None) -> str:
    """Readable text of a field that may hold tags, (twice escaped) entities and stray white space."""
    text = html.unescape(html.unescape(markup or ""))
    text = re.sub(r"<[^>]+>", "", re.sub(r"<br\s*/?>", " ", text))
    return " ".join(text.split())


def unaccented(text: str) -> str:
    """``"Côte"`` → ``"Cote"``."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def words(text: str) -> str:
    """Lower case, punctuation and articles gone, single spaces: what two texts are compared by."""
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub(" ", text.lower())).split())


def mentions(text: str, phrase: str) -> bool:
    """``phrase`` occurs in ``text`` as whole words."""
    return f" {words(phrase)} " in f" {words(text)} "


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The names that are not empty, first occurrence of each spelling."""
    return tuple(dict.fromkeys(name for name in names if name))


def rank(*seed: str) -> int:
    """A fixed pseudo-random number in [0, 2^64) of some strings: for splits, orders and choices."""
    return int.from_bytes(hashlib.sha256("\0".join(seed).encode()).digest()[:8], "big")


def draw(choices: Sequence[T], *seed: str) -> T:
    """One of ``choices``, always the same for the same strings."""
    return choices[rank("draw", *seed) % len(choices)]
