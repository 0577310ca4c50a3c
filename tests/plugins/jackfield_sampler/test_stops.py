"""A turn ends with the token that completes a stop string in its text (pitfall 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from jackfield_sampler.stops import StopStrings


def _end(tokenizer: Any, ids: Sequence[int], stop: Sequence[str]) -> int | None:
    """Tokens of the turn when it ends, asked after every token as the sampler does."""
    stops = StopStrings(tokenizer, stop)
    return next((n for n in range(1, len(ids) + 1) if stops.completed_by(ids[:n])), None)


def _first_prefix_with(tokenizer: Any, ids: Sequence[int], stop: Sequence[str]) -> int | None:
    """The same by decoding everything every time."""
    return next((n for n in range(1, len(ids) + 1) if any(s in tokenizer.decode(ids[:n]) for s in stop)), None)


def test_split_over_tokens(tokenizer: Any) -> None:
    """``</stop>`` as ``</s`` + ``to``… ends with its last token."""
    ids = tokenizer.encode("say </stop> more").tolist()
    assert len(tokenizer.encode("</stop>")) > 2
    end = _end(tokenizer, ids, ["</stop>"])
    assert tokenizer.decode(ids[:end]) == "say </stop>"


def test_in_the_middle_of_the_last_token(tokenizer: Any) -> None:
    """A last token that holds more than the end of the stop string is kept whole."""
    ids = tokenizer.encode("</top>xyz").tolist()
    assert tokenizer.decode([ids[-3]]) == ">x"
    assert _end(tokenizer, ids, ["</top>"]) == len(ids) - 2


def test_the_first_of_several_ends_the_turn(tokenizer: Any) -> None:
    """Whichever stop string is complete first counts, also if a longer one begins earlier."""
    ids = tokenizer.encode("abcdef").tolist()
    assert _end(tokenizer, ids, ["abcdef", "cd"]) == 4


def test_characters_split_over_tokens(tokenizer: Any) -> None:
    """T15: a stop string whose last character comes in four tokens is seen with the fourth, not before."""
    text = "東京タワー 🗼 end"
    ids = tokenizer.encode(text).tolist()
    before = len(tokenizer.encode("東京タワー ").tolist())
    assert _end(tokenizer, ids, ["ワー 🗼"]) == before + 4


def test_longer_than_the_first_tail(tokenizer: Any) -> None:
    """A stop string of 26 one-letter tokens after a long turn."""
    stop = "qwertyuiopasdfghjklzxcvbnm"
    ids = tokenizer.encode("m" * 50 + stop + "m").tolist()
    assert _end(tokenizer, ids, [stop]) == len(ids) - 1


def test_half_a_character_is_no_stop_string(tokenizer: Any) -> None:
    """Bytes of another character that begin like the stop string's do not end the turn."""
    ids = tokenizer.encode("🗽🗾").tolist()
    assert _end(tokenizer, ids, ["🗼"]) is None


@pytest.mark.parametrize("stop", [["</s>"], [" t", "é"], ["top\n"], ["tototototototototototototop"], []])
def test_agrees_with_decoding_everything(tokenizer: Any, stop: list[str]) -> None:
    """Random turns out of the pieces stop strings are made of: the same end as by decoding the whole turn after every token."""
    rng = np.random.default_rng(5)
    pieces = ["<", "</", "</s", "s>", ">x", "to", "top", " t", "\n", "é", "tototototototototototototo", "p"]
    for _ in range(60):
        ids = [i for piece in rng.choice(pieces, 40) for i in tokenizer.encode(piece).tolist()]
        assert _end(tokenizer, ids, stop) == _first_prefix_with(tokenizer, ids, stop)


def test_most_tokens_cost_no_decoding(tokenizer: Any) -> None:
    """A token that shows no stop string's last character is decoded once, alone, and never again."""
    decoded = []

    class Spy:
        def decode(self, ids: Any) -> str:
            decoded.append(len(ids))
            return str(tokenizer.decode(ids))

    stops = StopStrings(Spy(), ["</search>"])
    ids = tokenizer.encode("abcabcabc").tolist()
    assert not any(stops.completed_by(ids[:n]) for n in range(1, len(ids) + 1))
    assert decoded == [1, 1, 1]


def test_an_empty_stop_string_is_refused(tokenizer: Any) -> None:
    """It would end every turn at once."""
    with pytest.raises(ValueError, match="empty"):
        StopStrings(tokenizer, ["a", ""])
