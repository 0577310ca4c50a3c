"""Seeds depend on what is drawn, spelled out, and on nothing else."""

from __future__ import annotations

from jackfield.seeds import derive

PINNED = 3332994227579350685


def test_pinned_value() -> None:
    """The same on every machine, for good: a change would change every run."""
    assert derive(0, 1, "task", 2) == derive(0, 1, "task", 2)
    assert derive(0, 1, "task", 2) == PINNED


def test_parts_do_not_run_together() -> None:
    """("ab", "c") is not ("a", "bc"); 1 is not "1"."""
    assert len({derive("ab", "c"), derive("a", "bc"), derive("abc"), derive(1), derive("1")}) == 5


def test_fits_signed_64_bits() -> None:
    """Usable by every generator."""
    assert all(0 <= derive(i) < 2**63 for i in range(100))
