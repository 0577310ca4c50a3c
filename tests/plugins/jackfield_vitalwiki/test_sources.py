from __future__ import annotations

import re

import pytest

from jackfield_vitalwiki import sources as module
from jackfield_vitalwiki.sources import ARTICLES, DAYS, FACTBOOK, Date, Sources


def test_members_are_read_out_of_the_wheels(sources: Sources) -> None:
    """English summaries by title, documents by code in the order of their paths, and nothing but data."""
    assert sources.summaries["Copper"]["topic"] == "Physical sciences"
    assert list(sources.factbook) == ["fd", "sy", "xo"]


def test_days_are_read_by_name(sources: Sources) -> None:
    """Year, name and kind come from the line, day and month from the file's name; other languages and other lines are not read."""
    assert sources.births["Ada Stone"] == {Date(1801, 3, 2)}
    assert sources.births["Carla Stone"] == {Date(1700, 3, 2), Date(1700, 5, 9)}
    assert sources.deaths["Ada Stone"] == {Date(1877, 11, 21)}
    assert "not a line" not in sources.births


def test_pins_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every package has one version and a sha256, and a changed pin changes the digest that names caches."""
    for pin in (ARTICLES, FACTBOOK, DAYS):
        assert re.fullmatch(r"[\w-]+==[\d.]+", pin.requirement)
        assert re.fullmatch(r"[0-9a-f]{64}", pin.sha256)
    before = module.pins_digest()
    monkeypatch.setattr(module, "DAYS", module.Pin(DAYS.requirement, "0" * 64))
    assert module.pins_digest() != before
