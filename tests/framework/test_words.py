"""Numbers in sentences."""

from __future__ import annotations

from jackfield.words import counted


def test_a_noun_goes_with_its_number() -> None:
    """One is singular, none is not; thousands are set apart."""
    assert [counted(n, "step") for n in (0, 1, 2, 12_800)] == ["0 steps", "1 step", "2 steps", "12 800 steps"]
    assert [counted(n, "minibatch", "minibatches") for n in (1, 2)] == ["1 minibatch", "2 minibatches"]
