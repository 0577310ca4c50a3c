"""Packing shifts once, joins, and loses nothing."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from jackfield import pack
from jackfield.testing.tiny_model import credited_rollout


def test_states_and_targets_by_hand() -> None:
    """P P A A E A gives states 1 2 4, targets the three A, and ends with the last state."""
    rollout = credited_rollout([("task", [1, 2]), ("policy", [3, 4]), ("environment", [5]), ("policy", [6])])
    packed = pack.packed([rollout])
    assert packed.ids_T.tolist() == [1, 2, 3, 4, 5]
    assert packed.positions_T.tolist() == [0, 1, 2, 3, 4]
    assert packed.state_N.tolist() == [1, 2, 4]
    assert packed.target_N.tolist() == [3, 4, 6]
    assert packed.pieces == (pack.Piece(length=5, after=None),)


def test_a_prompt_that_neighbours_share_stands_there_once() -> None:
    """Also where what one of them wrote is a single token, which needs no state of its own; not where a stranger stands between."""
    one = credited_rollout([("task", [1, 2]), ("policy", [3])])
    two = credited_rollout([("task", [1, 2]), ("policy", [4, 5]), ("environment", [6]), ("policy", [7])])
    three = credited_rollout([("task", [1, 2, 4]), ("policy", [5, 6])])
    packed = pack.packed([one, two, three, two])
    assert packed.ids_T.tolist() == [1, 2, 4, 5, 6, 1, 2, 4, 5, 1, 2, 4, 5, 6]
    assert packed.positions_T.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 0, 1, 2, 3, 4]
    assert [(piece.length, piece.after) for piece in packed.pieces] == [(2, None), (3, 0), (4, None), (5, None)]
    assert packed.rollout_N.tolist() == [0, 1, 1, 1, 2, 2, 3, 3, 3]
    assert packed.state_N.tolist() == [1, 1, 2, 4, 7, 8, 10, 11, 13]
    assert packed.target_N.tolist() == [3, 4, 5, 7, 5, 6, 4, 5, 7]
    assert pack.plan([(one, two), (three,), (two,)], 14) == [[0, 1, 2]]
    assert pack.plan([(one, two), (three,), (two,)], 13) == [[0, 1], [2]]
    assert pack.plan([(one,), (two,), (three,), (two,)], 5) == [[0, 1], [2], [3]]


def test_rows_are_what_pieces_say() -> None:
    """Every token in the row of its text, at its position; padding is zeros on the right."""
    one = credited_rollout([("task", [1, 2]), ("policy", [3, 4])])
    two = credited_rollout([("task", [1, 2]), ("policy", [5, 6, 7])])
    packed = pack.packed([one, two, credited_rollout([("task", [8]), ("policy", [9])])])
    rows = packed.rows()
    assert rows.ids_BC.tolist() == [[1, 2, 3, 0], [1, 2, 5, 6], [8, 0, 0, 0]]
    assert torch.equal(rows.ids_BC[rows.row_T, rows.column_T], packed.ids_T)
    assert torch.equal(rows.column_T, packed.positions_T)
    assert torch.equal(rows.positions_BC[rows.row_T, rows.column_T], packed.positions_T)
    assert pack.packed([]).rows().ids_BC.shape == (0, 1)


def test_to_the_end_adds_the_state_after_the_last_token() -> None:
    """One more state a rollout, for the critic's bootstrap; also behind a shared prompt."""
    rollout = credited_rollout([("task", [1]), ("policy", [2]), ("environment", [3, 4])])
    packed = pack.packed([rollout], pack.the_end)
    assert packed.ids_T.tolist() == [1, 2, 3, 4]
    assert packed.state_N.tolist() == [0, 3]
    packed = pack.packed([rollout, rollout], pack.the_end)
    assert packed.ids_T.tolist() == [1, 2, 3, 4, 2, 3, 4]
    assert packed.state_N.tolist() == [0, 3, 0, 6]


def test_turns_and_their_ends_by_hand() -> None:
    """P A A A A E A E in turns A A, A A and A: their last tokens, among the policy's 5 the numbers 1, 3 and 4; then the rollout's last.

    The state after the second token of the first turn is at its own place, 2: one later than where that token is predicted.
    """
    pieces = [("task", [1]), ("policy", [2, 3]), ("policy", [4, 5]), ("environment", [6]), ("policy", [7]), ("environment", [8])]
    rollout = credited_rollout(pieces)  # type: ignore[arg-type]
    assert pack.turn_ends(rollout).tolist() == [2, 4, 6]
    packed = pack.packed([rollout], pack.turn_ends_and_the_end)
    assert packed.ids_T.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert packed.state_N.tolist() == [0, 1, 2, 3, 5, 2, 4, 6, 7]
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
    assert pack.packed([credited_rollout([("policy", [1, 2])])]).target_N.tolist() == [2]


def test_gather_and_scatter_are_inverse() -> None:
    """What was gathered returns to its place, NaN elsewhere."""
    rollouts = [
        credited_rollout([("task", [1]), ("policy", [2, 3]), ("environment", [4]), ("policy", [5])], seed=s) for s in (0, 1)
    ]
    flat = pack.gather(rollouts, [r.advantage for r in rollouts], torch.float64)
    for rollout, array in zip(rollouts, pack.scatter(rollouts, flat), strict=True):
        np.testing.assert_array_equal(array, np.where(rollout.policy_mask, rollout.advantage, np.nan))


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5)), max_size=20), st.integers(1, 60), st.booleans())
def test_plans_cover_everything_within_the_budget(shapes: list[tuple[int, int, int]], tokens: int, to_the_end: bool) -> None:
    """Every bundle once and in order; what ``packed`` makes of a micro-batch is within the budget, unless it is one bundle alone."""
    bundles = [
        [credited_rollout([("task", [5] * prompt), ("policy", [9] * length)]) for _ in range(members)]
        for prompt, length, members in shapes
    ]
    batches = pack.plan(bundles, tokens, to_the_end=to_the_end)
    assert [i for batch in batches for i in batch] == [*range(len(bundles))]
    sizes = [
        len(pack.packed([r for i in batch for r in bundles[i]], pack.the_end if to_the_end else None).ids_T) for batch in batches
    ]
    for number, (batch, size) in enumerate(zip(batches, sizes, strict=True)):
        assert len(batch) == 1 or size <= tokens
        if number + 1 < len(batches):  # no smaller batch than needed
            following = [r for i in (*batch, batches[number + 1][0]) for r in bundles[i]]
            assert len(pack.packed(following, pack.the_end if to_the_end else None).ids_T) > tokens
