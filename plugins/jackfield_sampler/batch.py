"""What one forward pass computes: the new tokens of some rows, joined without padding.

Axes: R rows, N tokens of all rows joined, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from attrs import frozen

from jackfield_sampler.cache import KvCache


@frozen
class Row:
    """New tokens of one slot: ``ids`` stand at positions ``start``, ``start + 1``, …; everything before is in the cache."""

    slot: int
    start: int
    ids: Sequence[int]

    @property
    def end(self) -> int:
        """Tokens the slot holds once these are computed."""
        return self.start + len(self.ids)


@frozen(eq=False)
class Batch:
    """Rows in the order of their slots, and their tokens as flat tensors."""

    rows: tuple[Row, ...]
    ids_N: torch.Tensor
    position_N: torch.Tensor
    slot_N: torch.Tensor

    @classmethod
    def of(cls, rows: Sequence[Row], device: torch.device) -> Batch:
        """``rows`` must be sorted by slot, each slot once, no row empty."""
        ids = [token for row in rows for token in row.ids]
        positions = [position for row in rows for position in range(row.start, row.end)]
        slots = [row.slot for row in rows for _ in row.ids]
        flat = torch.tensor([ids, positions, slots], dtype=torch.int64, device=device)
        return cls(tuple(rows), flat[0], flat[1], flat[2])


class Network(Protocol):
    """The policy as a sampler sees it: a compute copy of its weights and a cache."""

    cache: KvCache
    device: torch.device

    def forward(self, batch: Batch) -> torch.Tensor:
        """[R, V] logits after the last token of every row, in the compute dtype. Fills the cache at the batch's positions."""
        ...

    def refresh(self) -> None:
        """Take over the policy's weights as they are now."""
        ...
