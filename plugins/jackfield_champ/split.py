"""Which problems are held out: never one whose twin is trained on.

The set asks some things twice: in other words (strings of 1, 2 and 3, gold 239), with other numbers (3^105 + 4^105 mod 7, 11, 13) or
about another thing that counts alike (subsets, seats and tilings, gold 144). Such problems stay together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
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
    by_id = {problem.id: problem for problem in problems}
    family = _families([*by_id], lambda one, other: _alike(by_id[one], by_id[other]))
    return frozenset(name for name, head in family.items() if _is_drawn(head))


def held_out_of_all(texts: Mapping[str, str], problems: Sequence[Problem]) -> frozenset[str]:
    """Ids of the test problems of the whole set (id → text), of which ``problems`` are those with an integer answer: whatever is in a
    family with one of their test problems, and of families without any of them those drawn."""
    tested, known = held_out(problems), {problem.id for problem in problems}
    by_id = {problem.id: problem for problem in problems}
    grams = {name: five_grams(text) for name, text in texts.items()}

    def alike(one: str, other: str) -> bool:
        return _share(grams[one], grams[other]) or (one in known and other in known and _alike(by_id[one], by_id[other]))

    family = _families([*texts], alike)
    of_tested = {family[name] for name in tested & family.keys()}
    of_known = {family[name] for name in known & family.keys()}
    return frozenset(name for name, head in family.items() if head in of_tested or (head not in of_known and _is_drawn(head)))


def five_grams(text: str) -> frozenset[tuple[str, ...]]:
    """Runs of five words or numbers, in lower case."""
    words = re.findall(r"\w+", text.lower())
    return frozenset(tuple(words[start : start + 5]) for start in range(len(words) - 4))


def _families(names: Sequence[str], alike: Callable[[str, str], bool]) -> dict[str, str]:
    """Name → the first name of its family."""
    family = {name: name for name in names}
    for one, other in combinations(names, 2):
        if alike(one, other):
            kept, gone = sorted((family[one], family[other]))
            family = {name: kept if head == gone else head for name, head in family.items()}
    return family


def _is_drawn(head: str) -> bool:
    return derive("champ held out", head) % TEST_SHARE == 0


def _alike(one: Problem, other: Problem) -> bool:
    if one.gold == other.gold and abs(one.gold) > _TELLING:
        return True
    return _share(five_grams(one.text), five_grams(other.text))


def _share(first: frozenset[tuple[str, ...]], second: frozenset[tuple[str, ...]]) -> bool:
    return len(first & second) > _SHARED * min(len(first), len(second))
