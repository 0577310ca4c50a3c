"""Scores to ranks. Equal scores are ordered by the passage's place in the corpus, everywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jackfield.types import FloatArray

Ranked = list[tuple[int, float]]
"""Position of a passage in the corpus and its score, best first."""


def best(scores: FloatArray, k: int) -> Ranked:
    """The ``k`` highest of ``scores`` [N], or all N."""
    k = min(k, len(scores))
    if k == 0:
        return []
    candidates = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
    order = candidates[np.argsort(-scores[candidates], kind="stable")][:k]
    return [(int(position), float(scores[position])) for position in order]


def fuse(rankings: Sequence[Ranked], k: int, constant: int = 60) -> Ranked:
    """Reciprocal rank fusion: Σ 1 / (constant + rank), ranks from 1 (Cormack, Clarke and Büttcher, SIGIR 2009; constant 60 is theirs)."""
    fused: dict[int, float] = {}
    for ranking in rankings:
        for rank, (position, _) in enumerate(ranking, start=1):
            fused[position] = fused.get(position, 0.0) + 1 / (constant + rank)
    return sorted(fused.items(), key=lambda found: (-found[1], found[0]))[:k]
