from __future__ import annotations

from pathlib import Path

import pytest

from jackfield_vitalwiki.data import VitalWiki, WorldFacts


def test_a_task(cache: Path) -> None:
    """The bare question, gold and aliases, labels to report by, the passages that answer it; nothing recorded unless asked for."""
    tasks = {t.labels["relation"]: t for split in ("train", "test") for t in VitalWiki().tasks(split)}  # type: ignore[arg-type]
    task = tasks["element.number"]
    assert [m.role for m in task.prompt] == ["user"]
    assert "copper" in task.question
    assert task.answers == ("29",)
    assert task.labels == {"hops": "1", "relation": "element.number"}
    assert len(task.extra["supporting_ids"]) == 1
    assert task.recorded == ()


def test_ids_do_not_depend_on_the_keys(cache: Path) -> None:
    """A question keeps its id (and so its seeds) when others are left out; ids are unique."""
    everything = {t.question: t.id for t in VitalWiki().tasks("train")}
    assert len(set(everything.values())) == len(everything)
    assert set(everything.values()) == {f"vitalwiki/train-{n:05d}" for n in range(len(everything))}
    for hops in ("1", "2"):
        chosen = VitalWiki(hops=hops, demonstrations=True).tasks("train")  # type: ignore[arg-type]
        assert chosen
        assert all(t.labels["hops"] == hops and everything[t.question] == t.id for t in chosen)
    assert [t.id for t in VitalWiki(limit=2).tasks("train")] == ["vitalwiki/train-00000", "vitalwiki/train-00001"]


def test_demonstrations_are_one_attempt_a_task(cache: Path) -> None:
    """A search for each hop, then the answer."""
    for task in VitalWiki(demonstrations=True).tasks("train"):
        [turns] = task.recorded
        assert len(turns) == int(task.labels["hops"]) + 1
        assert turns[-1] == f"<answer> {task.answers[0]} </answer>"


def test_worldfacts_needs_only_the_factbook(cache: Path) -> None:
    """Its questions are those of vitalwiki whose passages are all in the public domain, under ids of its own."""
    tasks = [*WorldFacts().tasks("train"), *WorldFacts().tasks("test")]
    assert tasks
    assert all(t.id.startswith("worldfacts/") for t in tasks)
    assert all(i.startswith("factbook-") for t in tasks for i in t.extra["supporting_ids"])


def test_a_negative_limit_is_refused() -> None:
    """The message names the key."""
    with pytest.raises(ValueError, match="limit: must be at least 0"):
        VitalWiki(limit=-1)
