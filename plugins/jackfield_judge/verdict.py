"""From what a judge answered to a verdict. Only the judge's own words are read, never the completion it was shown."""

from __future__ import annotations

import re

from jackfield.types import Verdict

YES_OR_NO = r"(?i)\bverdict\W{0,8}(?P<verdict>yes|no)\b"
_WORDS = {"yes": 1.0, "no": 0.0}
_GROUPS = ("verdict", "score")


def wrong_pattern(pattern: str) -> str | None:
    """A check for a recipe key: a regular expression with one group ``verdict`` or ``score``."""
    try:
        groups = re.compile(pattern).groupindex
    except re.error as error:
        return f"is no regular expression: {error}"
    if len(set(_GROUPS) & set(groups)) != 1:
        return f"must have one group (?P<verdict>yes|no) or (?P<score>…), found {', '.join(groups) or 'none'}"
    return None


def read_verdict(said: str, pattern: str, best: float) -> Verdict:
    """The last match of ``pattern`` in what the judge said: yes is 1 and no is 0, or a number out of ``best``.

    What it said is kept as the reason. An abstention if nothing matches, or no number from 0 to ``best``.
    """
    found = None
    for match in re.finditer(pattern, said):
        found = match
    if found is None:
        return Verdict.abstain(f"the judge gave no verdict that can be read: {said}")
    kind = "score" if "score" in found.groupdict() else "verdict"
    word = found[kind] or ""
    value = _WORDS.get(word.lower()) if kind == "verdict" else _share(word, best)
    if value is None:
        expected = "yes or no" if kind == "verdict" else f"a number from 0 to {best:g}"
        return Verdict.abstain(f"the judge's verdict is {word!r} where {expected} is expected: {said}")
    return Verdict.score(value, reason=said, parsed=word)


def _share(word: str, best: float) -> float | None:
    try:
        number = float(word)
    except ValueError:
        return None
    return number / best if 0 <= number <= best else None
