from __future__ import annotations

from pathlib import Path

from jackfield_vitalwiki.corpus import VitalWikiCorpus, WorldFactsCorpus


def test_worldfacts_is_the_factbook_alone(cache: Path) -> None:
    """The public-domain corpus is a part of the whole, with a fingerprint of its own."""
    whole, part = VitalWikiCorpus().passages(), WorldFactsCorpus().passages()
    assert part
    assert [passage for passage in whole if passage.id.startswith("factbook-")] == part
    assert VitalWikiCorpus().fingerprint != WorldFactsCorpus().fingerprint


def test_fingerprints_build_nothing(cache: Path) -> None:
    """They are cheap: no cache is touched."""
    assert VitalWikiCorpus().fingerprint
    assert not cache.exists()
