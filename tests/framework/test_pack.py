"""Packing shifts once, pads on the right and loses nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from jackfield import pack
from jackfield.testing.tiny_model import credited_rollout


def test_positions_and_targets_by_hand() -> None:
    """P P A A E A gives columns 1 2 4, targets the three A, and a row that ends with the last column."""
    rollout = credited_rollout([("task", [1, 2]), ("policy", [3, 4]), ("environment", [5]), ("policy", [6])])
    rows = pack.rows([rollout])
    assert rows.ids_BT.tolist() == [[1, 2, 3, 4, 5]]
    assert rows.column_N.tolist() == [1, 2, 4]
    assert rows.target_N.tolist() == [3, 4, 6]


def test_to_the_end_adds_the_state_after_the_last_token() -> None:
    """One more position a row, for the critic's bootstrap."""
    rollout = credited_rollout([("task", [1]), ("policy", [2]), ("environment", [3, 4])])
    rows = pack.rows([rollout], pack.the_end)
    assert rows.ids_BT.tolist() == [[1, 2, 3, 4]]
    assert rows.column_N.tolist() == [0, 3]


def test_turns_and_their_ends_by_hand() -> None:
    """P A A A A E A E in turns A A, A A and A: their last tokens, among the policy's 5 the numbers 1, 3 and 4; then the rollout's last.

    The state after the second token of the first turn is at its own column, 2: one later than where that token is predicted.
    """
    pieces = [("task", [1]), ("policy", [2, 3]), ("policy", [4, 5]), ("environment", [6]), ("policy", [7]), ("environment", [8])]
    rollout = credited_rollout(pieces)  # type: ignore[arg-type]
    assert pack.turn_ends(rollout).tolist() == [2, 4, 6]
    rows = pack.rows([rollout], pack.turn_ends_and_the_end)
    assert rows.ids_BT.tolist() == [[1, 2, 3, 4, 5, 6, 7, 8]]
    assert rows.column_N.tolist() == [0, 1, 2, 3, 5, 2, 4, 6, 7]
    other = credited_rollout([("task", [1, 1]), ("policy", [2]), ("policy", []), ("policy", [3])])
    assert pack.turn_positions([rollout, other]).tolist() == [1, 3, 4, 5, 6]
    inside, added = pack.split_added([rollout, other], pack.turn_ends_and_the_end)
    assert inside.tolist() == [True] * 5 + [False] * 4 + [True] * 2 + [False] * 3
    assert added.tolist() == [not policy for policy in inside.tolist()]


def test_a_turn_that_is_not_trained_on_has_no_end() -> None:
    """A rollout that starts with a single token of the policy: nothing predicts it."""
    assert pack.turn_ends(credited_rollout([("policy", [1]), ("environment", [2]), ("policy", [3])])).tolist() == [2]


def test_the_first_token_is_never_predicted() -> None:
    """A rollout that starts with the policy has no context for its first token."""
    assert pack.rows([credited_rollout([("policy", [1, 2])])]).target_N.tolist() == [2]


def test_gather_and_scatter_are_inverse() -> None:
    """What was gathered returns to its place, NaN elsewhere."""
    rollouts = [
        credited_rollout([("task", [1]), ("policy", [2, 3]), ("environment", [4]), ("policy", [5])], seed=s) for s in (0, 1)
    ]
    flat = pack.gather(rollouts, [r.advantage for r in rollouts], torch.float64)
    for rollout, array in zip(rollouts, pack.scatter(rollouts, flat), strict=True):
        np.testing.assert_array_equal(array, np.where(rollout.policy_mask, rollout.advantage, np.nan))


@given(st.lists(st.lists(st.integers(0, 60), min_size=1, max_size=4), max_size=40), st.integers(1, 200))
def test_plans_cover_everything_within_the_budget(lengths: list[list[int]], tokens: int) -> None:
    """Every bundle once; rows × longest within the budget unless one bundle alone exceeds it."""
    batches = pack.plan(lengths, tokens)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        rows = [length for i in batch for length in lengths[i]]
        assert len(batch) == 1 or len(rows) * max(*rows, 1) <= tokens


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_padding_never_reaches_a_position(order: list[int]) -> None:
    """Whatever rows share a batch, ids at used columns are the rollout's own."""
    rollouts = [credited_rollout([("task", [1] * n), ("policy", [9, 8, 7])]) for n in (1, 4, 9)]
    rows = pack.rows([rollouts[i] for i in order])
    for row, index in enumerate(order):
        length = pack.row_length(rollouts[index])
        assert rows.ids_BT[row, :length].tolist() == rollouts[index].tokens[:length].tolist()
        assert (rows.ids_BT[row, length:] == 0).all()
