from __future__ import annotations

from pathlib import Path

import pytest

from jackfield_vitalwiki import build as module
from jackfield_vitalwiki.build import build, fingerprint, load_passages, load_questions
from jackfield_vitalwiki.sources import Sources


def test_passages_of_all_three_sources_with_unique_ids(sources: Sources) -> None:
    """Articles, factbook sections and dates; the ids that questions point at exist."""
    data = build(sources)
    ids = [passage.id for passage in data.passages]
    assert len(set(ids)) == len(ids)
    assert {passage_id.split("-")[0] for passage_id in ids} == {"wiki", "factbook", "dates"}
    asked = [*data.questions["train"], *data.questions["test"]]
    assert {q.hops for q in asked} == {1, 2}
    assert {i for q in asked for i in q.supporting} <= set(ids)


def test_the_cache_gives_back_what_was_built(cache: Path, sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first use builds, later ones read the same records without any package."""
    built = build(sources)
    assert tuple(load_passages()) == built.passages
    monkeypatch.setattr(module, "download", lambda: pytest.fail("built again"))
    assert tuple(load_passages()) == built.passages
    assert tuple(load_questions("train")) == built.questions["train"]
    assert tuple(load_questions("test")) == built.questions["test"]
    assert [folder.name for folder in cache.iterdir()] == [fingerprint()]


def test_a_failed_build_leaves_no_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files or none: a crash while writing leaves neither a folder that looks whole nor rubbish."""
    monkeypatch.setattr(module, "_write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        load_passages()
    assert list(cache.iterdir()) == []


def test_two_builders_at_once(cache: Path, sources: Sources) -> None:
    """The second to finish finds the folder there and leaves it."""
    data = build(sources)
    for _ in range(2):
        module._write_whole(cache / fingerprint(), data)
    assert tuple(load_passages()) == data.passages
    assert len(list(cache.iterdir())) == 1


def test_the_fingerprint_names_version_and_pins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new builder version has another cache."""
    before = fingerprint()
    monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    assert fingerprint() != before
