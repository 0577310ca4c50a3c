"""Do two reward sources say the same of the same rollouts?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

from jackfield.statistics import Agreement, agreement

CATEGORIES = ("right", "wrong", "abstain", "error")
"""``right`` is a score above the threshold."""
SCORED = 2
"""The first so many categories are scores."""
THRESHOLD = 0.5

Record = Mapping[str, Any]


def tables(records: Iterable[Record], threshold: float = THRESHOLD) -> dict[tuple[str, str], Agreement]:
    """Every pair of sources → their table, over the rollouts that both were asked about. ``records`` are lines of the tracker
    ``rollouts_jsonl``."""
    said = [{source: _category(verdict, threshold) for source, verdict in record["verdicts"].items()} for record in records]
    sources = list(dict.fromkeys(source for verdicts in said for source in verdicts))
    found = {}
    for first, second in combinations(sources, 2):
        both = [(verdicts[first], verdicts[second]) for verdicts in said if first in verdicts and second in verdicts]
        if both:
            found[first, second] = agreement([one for one, _ in both], [other for _, other in both], CATEGORIES)
    return found


def scored_only(found: Agreement) -> Agreement | None:
    """The part of the table in which both gave a score; None if there is no such rollout."""
    counts = found.counts[:SCORED, :SCORED]
    return Agreement(categories=CATEGORIES[:SCORED], counts=counts) if counts.sum() else None


def _category(verdict: Record, threshold: float) -> str:
    kind: str = verdict["kind"]
    return kind if kind != "score" else "right" if verdict["value"] > threshold else "wrong"
