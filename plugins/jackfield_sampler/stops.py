"""Does the newest token complete a stop string? Looked for in decoded text, because stop strings do not align with tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jackfield.stages import Tokenizer

REPLACEMENT = "\ufffd"
"""What decoders write for bytes that are not (yet) a character."""
FIRST_TAIL = 16
"""Tokens of the first tail that is decoded; it is doubled until it is long enough."""
MARGIN = 4
"""Characters at the start of a tail that may differ from the whole text: a character cut in two, a stripped space."""


class StopStrings:
    """Stop strings of one kind of turn, shared by all rollouts that use them.

    ``completed_by(ids)`` is asked after every token, so it first looks at that token alone: it cannot end a stop string
    without showing one's last character, unless it holds only a part of a character. Only then is a tail of the turn decoded.
    """

    def __init__(self, tokenizer: Tokenizer, stop: Sequence[str]) -> None:
        if "" in stop:
            raise ValueError("a stop string must not be empty")
        self._tokenizer = tokenizer
        self._stop = tuple(stop)
        self._longest = max(map(len, stop), default=0)
        self._last_characters = {text[-1] for text in stop}
        # Decoders may strip the space a token starts with, so that it does not show in the token alone.
        self._always_look = any(character.isspace() for character in self._last_characters)
        self._may_end: dict[int, bool] = {}

    def completed_by(self, ids: Sequence[int]) -> bool:
        """Whether the text of a turn's ``ids`` holds a stop string, given that it held none without the last one."""
        if not self._stop or not self._can_end(ids[-1]):
            return False
        size = FIRST_TAIL
        while size < len(ids) and len(self._text(ids[-size:-1])) < self._longest + MARGIN:
            size *= 2
        tail = self._text(ids[-size:])
        return any(text in tail for text in self._stop)

    def _can_end(self, token: int) -> bool:
        known = self._may_end.get(token)
        if known is None:
            text = self._text([token])
            known = self._always_look or REPLACEMENT in text or not self._last_characters.isdisjoint(text)
            self._may_end[token] = known
        return known

    def _text(self, ids: Sequence[int]) -> str:
        return self._tokenizer.decode(np.asarray(ids, np.int64))
