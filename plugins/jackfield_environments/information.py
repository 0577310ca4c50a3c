"""What the policy gets to read: an observation in its tags, cut to a token budget without ever cutting a tag."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from attrs import frozen

from jackfield.stages import Tokenizer
from jackfield.types import IntArray, Observation


@frozen(kw_only=True, eq=False)
class Block:
    """A tagged block that fits. ``cut`` says that it does not hold all there was.

    Example: ``Block(text="\\n\\n<information>Doc 1 …</information>\\n\\n", tokens=np.array([…]), cut=False)``
    """

    text: str
    tokens: IntArray
    cut: bool


def readable(observation: Observation) -> tuple[str, ...]:
    """What the policy reads: the parts, or why there are none."""
    if observation.failure is not None:
        return (f"The call failed: {observation.failure}",)
    return observation.parts or ("Nothing was found.",)


def information_block(parts: Sequence[str], tag: str, budget: int, tokenizer: Tokenizer) -> Block | None:
    """As much of ``parts``, one a line, as fits into ``budget`` tokens with the tags and the blank lines around them.

    Last parts are dropped whole. If not even the first fits it is shortened by words, and if not even its first word does (scripts
    written without spaces) by characters. None if not one character fits.
    """

    whole = "\n".join(parts)

    def block(content: str) -> Block | None:
        text = f"\n\n<{tag}>{content}</{tag}>\n\n"
        tokens = tokenizer.encode(text)
        return Block(text=text, tokens=tokens, cut=content != whole) if len(tokens) <= budget else None

    def fitting(pieces: Sequence[str], joiner: str) -> Block | None:
        return _longest(len(pieces), lambda count: block(joiner.join(pieces[:count])))

    words = re.findall(r"\s*\S+", parts[0]) if parts else []
    return fitting(parts, "\n") or fitting(words, "") or fitting(words[0] if words else "", "")


def _longest(count: int, build: Callable[[int], Block | None]) -> Block | None:
    """The block built from the most of ``count`` pieces that fit; all of them are tried first, then by bisection."""
    best: Block | None = None
    low, middle, high = 1, count, count
    while low <= high:
        block = build(middle)
        if block is None:
            high = middle - 1
        else:
            best, low = block, middle + 1
        middle = (low + high) // 2
    return best
