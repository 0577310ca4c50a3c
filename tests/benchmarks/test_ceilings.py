from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest


def test_every_product_and_reading_are_measured(script: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """In both precisions, with both layers and all numbers of rows; and printed as a table."""
    ceilings = script("ceilings")
    monkeypatch.setattr(ceilings, "NUMBERS", 2**10)
    monkeypatch.setattr(ceilings, "SECONDS", 0.0)
    found = ceilings.measured(hidden=8, inner=16, vocabulary=32)
    assert len({(p["dtype"], p["layer"], p["rows"]) for p in found["gemm"]}) == 2 * 2 * len(ceilings.ROWS) == len(found["gemm"])
    assert all(p["per_second"] > 0 for p in found["gemm"])
    assert found["read"] > 0
    assert found["machine"]["torch"]
    assert len(ceilings.as_table(found).splitlines()) == 1 + 4 + 1


def test_the_best_try_counts(script: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever disturbs a measurement only slows it."""
    ceilings = script("ceilings")
    clock = iter([0.0, 3.0, 10.0, 11.0, 20.0, 22.0])
    monkeypatch.setattr(ceilings.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(ceilings, "SECONDS", 5.0)
    assert ceilings._seconds(lambda: None) == 1.0
