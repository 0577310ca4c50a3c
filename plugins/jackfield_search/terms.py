"""Text to the terms that retrieval compares; one definition for passages, queries and windows."""

from __future__ import annotations

import re
import unicodedata

_COMMON = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with
did do does from had has have how s t were what when where which who whom whose
"""
STOPWORDS = frozenset(_COMMON.split())
"""Too common to tell passages apart; and the words that make a question of a statement, which are rare in passages, so that their
weight would be high, but say nothing of the subject."""

_WORD = re.compile(r"\w+")
_ACCENT = re.compile("[\u0300-\u036f]")


def terms(text: str) -> list[str]:
    """The words of ``text`` in order: lower case, without accents (``Zürich`` finds ``Zurich``) and stopwords.

    Single characters count ("element 8"). Scripts written without spaces give one term a run.
    """
    return [word for word in _WORD.findall(_fold(text)) if word not in STOPWORDS]


def clean_query(text: str) -> str:
    """A query as it is searched: white space collapsed, halves of surrogate pairs replaced, every other character as it is."""
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", _ACCENT.sub("", unicodedata.normalize("NFKD", text.lower())))
