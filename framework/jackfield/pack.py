"""From rollouts to tensors: the only place that shifts, joins and pads.

Axes: T tokens of a batch joined, N policy tokens (flat, rollout by rollout), L tokens of one rollout, B rows padded to C columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from jackfield.types import FloatArray, IntArray, Rollout

if TYPE_CHECKING:
    import torch

Added = Callable[[Rollout], IntArray]
"""Tokens of a rollout, in order, after which something is read too: the last of them is the rollout's."""


@frozen(kw_only=True)
class Piece:
    """Consecutive tokens of a batch: each attends to those before it in the piece, and to all of the piece that this one continues."""

    length: int
    after: int | None
    """Number of the piece that this one continues, which itself continues none; None: it begins a text."""


@frozen(kw_only=True, eq=False)
class Packed:
    """Rollouts joined end to end, without padding, and where the policy's tokens are predicted.

    A prompt that neighbours share stands there once, and they continue it. The token at position t of a rollout is predicted by the
    hidden state at t − 1: ``state_N`` is where in the batch that is, ``target_N`` the token. A rollout ends with the last state
    needed, so its last token is a target only.

    Example: ``P P A A E A`` is one piece of five tokens with states ``1 2 4`` and the three ``A`` as targets. Two rollouts
    ``P P A`` and ``P P B C`` are pieces ``P P`` and, continuing it, ``B``; states ``1``, ``1 2``, targets ``A``, ``B C``.
    """

    ids_T: torch.Tensor
    positions_T: torch.Tensor
    pieces: tuple[Piece, ...]
    rollout_N: torch.Tensor
    state_N: torch.Tensor
    target_N: torch.Tensor

    def rows(self) -> Rows:
        """The same as padded rows, for models that know of no pieces: one row for every piece that no other continues."""
        import torch

        pieces = torch.split(torch.arange(len(self.ids_T)), [piece.length for piece in self.pieces])
        continued = {piece.after for piece in self.pieces}
        texts = [
            piece_T if piece.after is None else torch.cat([pieces[piece.after], piece_T])
            for number, (piece, piece_T) in enumerate(zip(self.pieces, pieces, strict=True))
            if number not in continued
        ]
        ids = self.ids_T.new_zeros(len(texts), max([1, *map(len, texts)]))
        row, column = torch.empty_like(self.ids_T), torch.empty_like(self.ids_T)
        for index, text in enumerate(texts):
            ids[index, : len(text)] = self.ids_T[text]
            row[text] = index
            column[text] = torch.arange(len(text))
        return Rows(ids_BC=ids, positions_BC=torch.arange(ids.shape[1]).expand(ids.shape), row_T=row, column_T=column)


@frozen(kw_only=True, eq=False)
class Rows:
    """Texts padded with zeros on the right, which causal attention cannot see, and where in them each token of a batch stands."""

    ids_BC: torch.Tensor
    positions_BC: torch.Tensor
    row_T: torch.Tensor
    column_T: torch.Tensor


def plan(bundles: Sequence[Sequence[Rollout]], tokens: int, *, to_the_end: bool = False) -> list[list[int]]:
    """Micro-batches as lists of indices into ``bundles``, of which each holds what must stay together.

    Neighbours are joined while they have at most ``tokens`` tokens, a shared prompt counted once. A larger bundle gets a micro-batch
    of its own.
    """
    batches: list[list[int]] = []
    held = 0
    before: Rollout | None = None
    for index, bundle in enumerate(bundles):
        added = _num_tokens(bundle, before, to_the_end)
        if not batches or held + added > tokens:
            batches.append([])
            held, added = 0, _num_tokens(bundle, None, to_the_end)
        batches[-1].append(index)
        held += added
        before = bundle[-1]
    return batches


def _num_tokens(bundle: Sequence[Rollout], before: Rollout | None, to_the_end: bool) -> int:
    """Tokens of a bundle in a batch that ends with ``before`` so far."""
    total = 0
    for rollout in bundle:
        total += row_length(rollout, to_the_end=to_the_end)
        if before is not None and _opening(before) == _opening(rollout):
            total -= _opening_length(rollout)
        before = rollout
    return total


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


def packed(rollouts: Sequence[Rollout], added: Added | None = None) -> Packed:
    """The rollouts joined, a prompt that neighbours share computed once.

    With ``added`` rollouts are kept whole, and after each one's policy positions come those of the added tokens (with target 0):
    where a critic reads the value after a token.
    """
    pieces: list[Piece] = []
    ids, positions = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    state, target, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], []

    def piece(rollout: Rollout, start: int, stop: int, after: int | None) -> int:
        """Adds one; gives where it starts in the batch."""
        before = sum(map(len, ids))
        if stop > start:
            pieces.append(Piece(length=stop - start, after=after))
            ids.append(rollout.tokens[start:stop])
            positions.append(np.arange(start, stop))
        return before

    for _, neighbours in groupby(rollouts, key=_opening):
        sharing = list(neighbours)
        shared = _opening_length(sharing[0]) if len(sharing) > 1 else 0
        prompt = piece(sharing[0], 0, shared, None)
        continued = len(pieces) - 1 if shared else None
        for rollout in sharing:
            own = piece(rollout, shared, row_length(rollout, to_the_end=added is not None), continued)
            written = np.flatnonzero(rollout.policy_mask)
            places, targets = written - 1, rollout.tokens[written]
            if added is not None:
                further = added(rollout)
                places, targets = np.append(places, further), np.append(targets, np.zeros_like(further))
            state.append(np.where(places < shared, prompt + places, own + places - shared))
            target.append(targets)
            counts.append(len(places))
    return _as_tensors(pieces, ids, positions, state, target, counts)


def joined(texts: Sequence[IntArray], places: Sequence[IntArray] = ()) -> Packed:
    """Texts of ids end to end, and after which tokens of each its states are read (with target 0; left out: of none)."""
    places = places or [text[:0] for text in texts]
    starts = np.cumsum([0, *map(len, texts)])
    return _as_tensors(
        [Piece(length=len(text), after=None) for text in texts],
        texts,
        [np.arange(len(text)) for text in texts],
        [start + place for start, place in zip(starts, places, strict=False)],
        [np.zeros_like(place) for place in places],
        [len(place) for place in places],
    )


def _as_tensors(
    pieces: Sequence[Piece],
    ids: Sequence[IntArray],
    positions: Sequence[IntArray],
    state: Sequence[IntArray],
    target: Sequence[IntArray],
    counts: Sequence[int],
) -> Packed:
    import torch

    def flat(parts: Sequence[IntArray]) -> torch.Tensor:
        return torch.from_numpy(np.concatenate(parts).astype(np.int64))

    return Packed(
        ids_T=flat(ids),
        positions_T=flat(positions),
        pieces=tuple(pieces),
        rollout_N=torch.repeat_interleave(torch.tensor(counts, dtype=torch.int64)),
        state_N=flat(state),
        target_N=flat(target),
    )


def _opening_length(rollout: Rollout) -> int:
    """Tokens before the policy's first one; 0 for a rollout in which it wrote none."""
    written = np.flatnonzero(rollout.policy_mask)
    return int(written[0]) if len(written) else 0


def _opening(rollout: Rollout) -> bytes:
    """The prompt, to be compared."""
    return bytes(rollout.tokens[: _opening_length(rollout)].astype(np.int64).data)


def split_added(rollouts: Sequence[Rollout], added: Added) -> tuple[torch.Tensor, torch.Tensor]:
    """Where, among the positions of ``packed(…, added)``, the policy's tokens are [N] and the added ones, both as masks."""
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
    """[N] the values of per-token arrays [L] at the policy's tokens, in the order of ``packed``."""
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
