"""Slots and what they hold."""

from __future__ import annotations

import torch

from jackfield_sampler.cache import BLOCK, KvCache, SlotTable


def test_growing_keeps_what_is_there() -> None:
    """Capacity grows in blocks and slots as needed; keys and values of earlier tokens stay, the rest is zero."""
    cache = KvCache()
    cache.reserve(2, 3)
    keys, values = torch.randn(3, 2, 4), torch.randn(3, 2, 4)
    slots, positions = torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1])
    cache.write(0, slots, positions, keys, values)
    cache.reserve(4, BLOCK + 1)
    grown_keys, grown_values = cache.layer(0)
    assert grown_keys.shape == (4, 2, 2 * BLOCK, 4)
    assert torch.equal(grown_keys[slots, :, positions], keys)
    assert torch.equal(grown_values[slots, :, positions], values)
    assert int((grown_keys != 0).sum()) == keys.numel()


def test_copy_takes_only_the_first_tokens() -> None:
    """A shared prompt is copied, what the source wrote after it is not."""
    cache = KvCache()
    cache.reserve(2, 4)
    keys = torch.randn(3, 1, 2)
    cache.write(0, torch.zeros(3, dtype=torch.int64), torch.arange(3), keys, keys)
    cache.copy(0, 1, 2)
    assert torch.equal(cache.layer(0)[0][1, 0, :2], keys[:2, 0])
    assert not cache.layer(0)[0][1, 0, 2:].any()


def test_slots_are_taken_from_the_lowest_and_prompts_outlive_their_session() -> None:
    """A freed slot still holds its prompt until another prompt takes it, and is preferred for the same prompt."""
    table = SlotTable(3)
    assert [table.take("a"), table.take("b")] == [0, 1]
    table.hold(0, "a")
    table.hold(1, "b")
    table.free(0)
    table.free(1)
    assert table.holder("b") == 1
    assert table.take("b") == 1
    assert table.take("c") == 0
    assert table.holder("a") is None
    table.forget_prompts()
    assert table.holder("b") is None
