"""Which integer a one-sentence summary of a solution says is the answer.

The package records what models wrote, not whether it is right. Every conversation ends with a request to sum the answer up in one
sentence; that sentence is read here and compared with the gold answer. Where it states no integer in one of the known places, or more
than one, or one that the solution does not end with, the answer stays ungraded: a wrong label costs more than a lost answer.
"""

from __future__ import annotations

import re
from typing import Literal

Grade = Literal["right", "wrong", "ungraded"]

_END = 300
"""Characters of a solution in which it gives its answer."""
_NUMBER = r"-?\d{1,3}(?:,\d{3})+|-?\d+"
_STATED = re.compile(
    rf"(?:^|\b(?:is|equals?|are|be|to|exactly|value|only)\b|=|≡|:)\s*({_NUMBER})"
    r"(?=\s*(?:$|[.;](?!\d)|,?\s+(?:which|when|achieved|attained|occurring|and (?:it|this)|since|because|as|where|if|for|obtained|with)\b))"
)
"""``… is 7.``, ``… = 7, which …``"""
_COUNTED = re.compile(
    r"^(?:There are|There is|There's|You need|It takes|We need|The answer is|A minimum of|At least)\s+"
    r"(?:a total of |exactly |at least |at most |only |a minimum of |a maximum of )?"
    rf"({_NUMBER})\b(?!\s*[\^*/+_!(]|\.\d)"
)
"""``There are 29 ways …``"""


def stated_integers(summary: str) -> frozenset[int]:
    """The integers that the sentence gives as its answer; of a sentence that begins by counting, the count alone."""
    text = _plain(summary)
    found = _COUNTED.findall(text) or _STATED.findall(text)
    return frozenset(int(number.replace(",", "")) for number in found)


def grade(solution: str, summary: str, gold: int) -> Grade:
    """Right or wrong where the summary states just one integer and the solution ends with it: some summaries mend the solution."""
    stated = stated_integers(summary)
    if len(stated) != 1 or not stated <= _integers(solution[-_END:]):
        return "ungraded"
    return "right" if gold in stated else "wrong"


def _integers(text: str) -> frozenset[int]:
    """All that occur, whatever stands around them."""
    return frozenset(int(number.replace(",", "")) for number in re.findall(_NUMBER, _plain(text).replace("{,}", ",")))


def _plain(text: str) -> str:
    """Without LaTeX's dollar signs, brackets, boxes and spaces."""
    text = text.replace("−", "-").replace("\\boxed", "").replace("\\", " \\")
    text = re.sub(r"[$*]|\\[()\[\],;!]", "", text)
    text = re.sub(r"\{(-?[\d,]+)\}", r"\1", text)
    return re.sub(r"\s+", " ", text).strip()
