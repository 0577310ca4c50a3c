"""From rollouts to tensors: the only place that shifts and pads.

Axes: B rows, T tokens of a row, N policy tokens of the rows (flat, row by row), L tokens of one rollout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from jackfield.types import FloatArray, IntArray, Rollout

if TYPE_CHECKING:
    import torch

Added = Callable[[Rollout], IntArray]
"""Tokens of a rollout, in order, after which something is read too: the last of them is the rollout's."""


@frozen(kw_only=True, eq=False)
class Rows:
    """Right-padded rows, one rollout a row, and where in them the policy's tokens are predicted.

    The token at position t of a rollout is predicted by the hidden state at t − 1: ``column_N`` is that t − 1, and
    ``target_N`` the token at t. A row ends with the last column needed, so its last token is a target only.

    Example: tokens ``P P A A E A`` give columns ``1 2 4``, targets the three ``A``, and a row of five tokens.
    """

    ids_BT: torch.Tensor
    positions_BT: torch.Tensor
    row_N: torch.Tensor
    column_N: torch.Tensor
    target_N: torch.Tensor


def plan(lengths: Sequence[Sequence[int]], tokens: int) -> list[list[int]]:
    """Micro-batches as lists of indices into ``lengths``, where an entry holds the row lengths of what must stay together.

    Longest first, so that rows of like length meet; rows × longest ≤ ``tokens``. An entry that is larger by itself gets a
    micro-batch of its own. The order depends on lengths and indices only.
    """
    batches: list[list[int]] = []
    rows, longest = 0, 0
    for index in sorted(range(len(lengths)), key=lambda i: (-max(lengths[i]), i)):
        if not batches or (rows + len(lengths[index])) * longest > tokens:
            batches.append([])
            rows, longest = 0, max(1, *lengths[index])
        batches[-1].append(index)
        rows += len(lengths[index])
    return batches


def the_end(rollout: Rollout) -> IntArray:
    """[1] the last token, whoever wrote it."""
    return np.array([len(rollout.tokens) - 1])


def turn_ends(rollout: Rollout) -> IntArray:
    """[S] the last token of every turn that the policy is trained on."""
    return rollout.turn_ends[rollout.policy_mask[rollout.turn_ends]]


def turn_ends_and_the_end(rollout: Rollout) -> IntArray:
    """[S + 1] both; where the policy has the last word, its last token stands here twice."""
    return np.concatenate([turn_ends(rollout), the_end(rollout)])


def row_length(rollout: Rollout, *, to_the_end: bool = False) -> int:
    """Tokens that must be computed for a rollout: up to what predicts its last policy token, or all of them."""
    if to_the_end:
        return len(rollout.tokens)
    columns = np.flatnonzero(rollout.policy_mask)
    return int(columns[-1]) if len(columns) else 0


def rows(rollouts: Sequence[Rollout], added: Added | None = None) -> Rows:
    """The rollouts as padded rows. Padding is zeros on the right, which causal attention cannot see; no mask is made from ids.

    With ``added`` rollouts are kept whole, and after each row's policy positions come those of the added tokens (with target 0):
    where a critic reads the value after a token.
    """
    import torch

    lengths = [row_length(r, to_the_end=added is not None) for r in rollouts]
    ids = np.zeros((len(rollouts), max([1, *lengths])), np.int64)
    row, column, target = [], [], []
    for index, (rollout, length) in enumerate(zip(rollouts, lengths, strict=True)):
        ids[index, :length] = rollout.tokens[:length]
        written = np.flatnonzero(rollout.policy_mask)
        columns, targets = written - 1, rollout.tokens[written]
        if added is not None:
            further = added(rollout)
            columns, targets = np.append(columns, further), np.append(targets, np.zeros_like(further))
        row.append(np.full(len(columns), index, np.int64))
        column.append(columns)
        target.append(targets)
    positions = np.broadcast_to(np.arange(ids.shape[1]), ids.shape).copy()
    return Rows(
        ids_BT=torch.from_numpy(ids),
        positions_BT=torch.from_numpy(positions),
        row_N=torch.from_numpy(np.concatenate(row)),
        column_N=torch.from_numpy(np.concatenate(column)),
        target_N=torch.from_numpy(np.concatenate(target).astype(np.int64)),
    )


def split_added(rollouts: Sequence[Rollout], added: Added) -> tuple[torch.Tensor, torch.Tensor]:
    """Where, among the positions of ``rows(…, added)``, the policy's tokens are [N] and the added ones, both as masks."""
    import torch

    counts = np.array([(r.num_policy_tokens, len(added(r))) for r in rollouts]).reshape(-1)
    inside = torch.from_numpy(np.repeat(np.tile([True, False], len(rollouts)), counts))
    return inside, ~inside


def turn_positions(rollouts: Sequence[Rollout]) -> torch.Tensor:
    """[S] index of every turn's last token among the policy's tokens of all rollouts."""
    import torch

    before = np.cumsum([0, *(r.num_policy_tokens for r in rollouts)])
    found = [start + np.cumsum(r.policy_mask)[turn_ends(r)] - 1 for start, r in zip(before, rollouts, strict=False)]
    return torch.from_numpy(np.concatenate([np.zeros(0, np.int64), *found]))


def gather(rollouts: Sequence[Rollout], arrays: Iterable[FloatArray], dtype: torch.dtype) -> torch.Tensor:
    """[N] the values of per-token arrays [L] at the policy's tokens, in the order of ``rows``."""
    import torch

    parts = [np.asarray(a)[r.policy_mask] for r, a in zip(rollouts, arrays, strict=True)]
    return torch.from_numpy(np.concatenate(parts).astype(np.float64)).to(dtype)


def scatter(rollouts: Sequence[Rollout], values: torch.Tensor) -> list[FloatArray]:
    """The inverse of ``gather``: per rollout an array [L], NaN where the policy did not write."""
    flat = values.detach().cpu().numpy()
    arrays, start = [], 0
    for rollout in rollouts:
        count = rollout.num_policy_tokens
        array = np.full(len(rollout.tokens), np.nan, flat.dtype)
        array[rollout.policy_mask] = flat[start : start + count]
        arrays.append(array)
        start += count
    return arrays
