from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackfield_search.ranking import best, fuse


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), max_size=20), st.integers(1, 25))
def test_best_is_a_stable_sort(scores: list[float], k: int) -> None:
    """The k highest, ties by position: as sorting everything gives."""
    expected = sorted(enumerate(scores), key=lambda found: (-found[1], found[0]))[:k]
    assert best(np.array(scores, np.float32), k) == expected


def test_reciprocal_rank_fusion_by_hand() -> None:
    """Σ 1 / (60 + rank): 7 stands first and third, 3 second and first, 5 in one list only."""
    fused = fuse([[(7, 9.0), (3, 8.0)], [(3, 0.9), (5, 0.8), (7, 0.1)]], k=10)
    assert [position for position, _ in fused] == [3, 7, 5]
    assert [score for _, score in fused] == pytest.approx([1 / 62 + 1 / 61, 1 / 61 + 1 / 63, 1 / 62])


def test_fused_ties_go_by_position() -> None:
    """Two passages that swap ranks score the same: the one that comes first in the corpus wins."""
    assert [position for position, _ in fuse([[(9, 1.0), (2, 0.5)], [(2, 1.0), (9, 0.5)]], k=2)] == [2, 9]
