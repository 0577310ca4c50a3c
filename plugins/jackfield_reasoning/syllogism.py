"""Whether a conclusion follows from two statements about three kinds of things.

The package's generator takes it for valid that all ants are dolphins, some dolphins are not spiders, so some ants are not spiders: it
does not ask whether the middle term is distributed. One in eight of its answers is such a Yes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

_STATEMENT = re.compile(r"(All|No|Some) (\w+) are (not )?(\w+)")
_Thing = Mapping[str, bool]


def mended(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A generated question with the answer that is right."""
    about = entry["metadata"]
    valid = follows([about["premise1"], about["premise2"]], about["conclusion"])
    return {**entry, "answer": "Yes" if valid else "No", "metadata": {**about, "is_valid": valid}}


def follows(premises: Sequence[str], conclusion: str) -> bool:
    """Whether the conclusion holds in every world where the premises do. As in Aristotle's logic, there are things of every kind.

    Example: from ``["All ants are dolphins", "All dolphins are fish"]`` follows ``"Some fish are ants"``
    """
    kinds = sorted({kind for statement in (*premises, conclusion) for kind in _read(statement)[1:3]})
    things = [dict(zip(kinds, belongs, strict=True)) for belongs in itertools.product((False, True), repeat=len(kinds))]
    worlds = itertools.chain.from_iterable(itertools.combinations(things, count) for count in range(len(things) + 1))
    return all(
        _holds(conclusion, world)
        for world in worlds
        if all(any(thing[kind] for thing in world) for kind in kinds) and all(_holds(premise, world) for premise in premises)
    )


def _holds(statement: str, world: Sequence[_Thing]) -> bool:
    quantifier, subject, predicate, negated = _read(statement)
    belongs = [thing[predicate] != negated for thing in world if thing[subject]]
    return {"All": all(belongs), "No": not any(belongs), "Some": any(belongs)}[quantifier]


def _read(statement: str) -> tuple[str, str, str, bool]:
    found = _STATEMENT.fullmatch(statement)
    if found is None:
        raise ValueError(f"no statement of a syllogism: {statement!r}")
    return found[1], found[2], found[4], found[3] is not None
