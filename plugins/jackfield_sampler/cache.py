"""Keys and values of all slots, preallocated, and which slot holds what.

Axes: S slots, K key/value heads, C capacity in tokens, D head size, N tokens of a batch joined.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable

import torch

BLOCK = 256
"""Capacity grows by so many tokens at a time."""


class KvCache:
    """One ``[S, K, C, D]`` tensor of keys and one of values a layer; a layer's heads become known with its first write.

    Positions never written hold zeros and stale ones finite numbers, so that attention may mask them by weight 0.
    """

    def __init__(self) -> None:
        self._slots = 0
        self._capacity = 0
        self._layers: list[tuple[torch.Tensor, torch.Tensor]] = []

    def reserve(self, slots: int, tokens: int) -> None:
        """Make room for ``slots`` slots of ``tokens`` tokens each. What is there stays."""
        if slots <= self._slots and tokens <= self._capacity:
            return
        self._slots = max(slots, self._slots)
        self._capacity = max(-(-tokens // BLOCK) * BLOCK, self._capacity)
        for index, (keys, values) in enumerate(self._layers):
            self._layers[index] = (self._grown(keys), self._grown(values))

    def write(
        self, layer: int, slot_N: torch.Tensor, position_N: torch.Tensor, keys_NKD: torch.Tensor, values_NKD: torch.Tensor
    ) -> None:
        """Store the keys and values of new tokens. Layers must first be written in their order."""
        if layer == len(self._layers):
            self._layers.append((self._zeros(keys_NKD), self._zeros(values_NKD)))
        keys, values = self._layers[layer]
        keys[slot_N, :, position_N] = keys_NKD
        values[slot_N, :, position_N] = values_NKD

    def layer(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values, each [S, K, C, D]; views to read from."""
        return self._layers[index]

    def copy(self, source: int, target: int, tokens: int) -> None:
        """Give slot ``target`` the first ``tokens`` tokens of slot ``source``."""
        if source == target:
            return
        for keys, values in self._layers:
            keys[target, :, :tokens] = keys[source, :, :tokens]
            values[target, :, :tokens] = values[source, :, :tokens]

    def _zeros(self, like_NKD: torch.Tensor) -> torch.Tensor:
        return like_NKD.new_zeros(self._slots, like_NKD.shape[1], self._capacity, like_NKD.shape[2])

    def _grown(self, old: torch.Tensor) -> torch.Tensor:
        slots, heads, capacity, size = old.shape
        new = old.new_zeros(self._slots, heads, self._capacity, size)
        new[:slots, :, :capacity] = old
        return new


class SlotTable:
    """Which slots are free, and which prompt each slot starts with, also after it was freed, until it is taken again."""

    def __init__(self, count: int) -> None:
        self._free = list(range(count))
        self._prompts: dict[int, Hashable] = {}

    @property
    def num_free(self) -> int:
        return len(self._free)

    def take(self, prompt: Hashable) -> int:
        """A free slot: one that still holds ``prompt`` if there is one, else the lowest. Its prompt is kept only in the first case."""
        slot = next((slot for slot in sorted(self._free) if self._prompts.get(slot) == prompt), None)
        if slot is None:
            slot = heapq.heappop(self._free)
            self._prompts.pop(slot, None)
        else:
            self._free.remove(slot)
            heapq.heapify(self._free)
        return slot

    def free(self, slot: int) -> None:
        heapq.heappush(self._free, slot)

    def hold(self, slot: int, prompt: Hashable) -> None:
        """The slot now starts with the computed ``prompt``."""
        self._prompts[slot] = prompt

    def holder(self, prompt: Hashable) -> int | None:
        """A slot that starts with ``prompt``, in use or not."""
        return next((slot for slot, held in self._prompts.items() if held == prompt), None)

    def forget_prompts(self) -> None:
        """The weights changed: nothing that was computed is of use."""
        self._prompts.clear()
