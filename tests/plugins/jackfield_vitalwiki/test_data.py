from __future__ import annotations

from pathlib import Path

import pytest

from jackfield_vitalwiki.data import VitalWiki, VitalWikiCalculations, WorldFacts, WorldFactsCalculations


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


def test_calculations_are_tasks_too(cache: Path) -> None:
    """Made of the same passages: a label for hops and relation, the passages that tell the numbers, ids that no key changes."""
    tasks = [t for split in ("train", "test") for t in VitalWikiCalculations(demonstrations=True).tasks(split)]  # type: ignore[arg-type]
    by_relation = {t.labels["relation"]: t for t in tasks}
    task = by_relation["calculated.lifespan"]
    assert "Ada Stone" in task.question
    assert task.answers == ("76",)
    assert task.labels["hops"] == "1"
    assert [i.split("-")[0] for i in task.extra["supporting_ids"]] == ["dates"]
    assert task.recorded == (("<search> Ada Stone </search>", "<calculator> 1877 - 1801 </calculator>", "<answer> 76 </answer>"),)
    plain = [t for split in ("train", "test") for t in VitalWikiCalculations().tasks(split)]  # type: ignore[arg-type]
    assert [(t.id, t.recorded) for t in plain] == [(t.id, ()) for t in tasks]
    assert all(t.id.startswith("vitalwiki_calculations/") for t in tasks)


def test_calculations_in_the_public_domain(cache: Path) -> None:
    """Those that only the factbook is needed for, under ids of their own."""
    for split in ("train", "test"):
        for task in WorldFactsCalculations().tasks(split):  # type: ignore[arg-type]
            assert task.id.startswith("worldfacts_calculations/")
            assert all(i.startswith("factbook-") for i in task.extra["supporting_ids"])
