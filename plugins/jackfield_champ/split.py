"""Which problems are held out: never one whose twin is trained on.

The set asks some things twice: in other words (strings of 1, 2 and 3, gold 239), with other numbers (3^105 + 4^105 mod 7, 11, 13) or
about another thing that counts alike (subsets, seats and tilings, gold 144). Such problems stay together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from jackfield.seeds import derive
from jackfield_champ.build import Problem

TEST_SHARE = 4
"""One family of problems in so many is held out."""
_SHARED = 0.4
"""Part of the shorter problem's 5-grams that makes two problems alike."""
_TELLING = 20
"""Two problems with one gold answer beyond this are taken for alike; smaller numbers are answers to anything."""


def held_out(problems: Sequence[Problem]) -> frozenset[str]:
    """Ids of the test problems: whole families of problems that are alike, drawn by the family's first id."""
    family = {problem.id: problem.id for problem in problems}
    for one, other in combinations(problems, 2):
        if _alike(one, other):
            kept, gone = sorted((family[one.id], family[other.id]))
            family = {name: kept if head == gone else head for name, head in family.items()}
    return frozenset(name for name, head in family.items() if derive("champ held out", head) % TEST_SHARE == 0)


def five_grams(text: str) -> frozenset[tuple[str, ...]]:
    """Runs of five words or numbers, in lower case."""
    words = re.findall(r"\w+", text.lower())
    return frozenset(tuple(words[start : start + 5]) for start in range(len(words) - 4))


def _alike(one: Problem, other: Problem) -> bool:
    if one.gold == other.gold and abs(one.gold) > _TELLING:
        return True
    first, second = five_grams(one.text), five_grams(other.text)
    return len(first & second) > _SHARED * min(len(first), len(second))
