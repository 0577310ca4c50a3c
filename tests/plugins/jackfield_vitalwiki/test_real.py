"""What the pinned packages really give. Needs them in the cache or a registry to download 23 MB from."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import Counter
from pathlib import Path

import attrs
import pytest

from jackfield_search.tool import Search
from jackfield_vitalwiki import build as module
from jackfield_vitalwiki.build import VitalWikiData
from jackfield_vitalwiki.calculations import calculations
from jackfield_vitalwiki.corpus import VitalWikiCorpus
from jackfield_vitalwiki.data import VitalWiki
from jackfield_vitalwiki.questions import Question
from jackfield_vitalwiki.sources import download
from jackfield_vitalwiki.text import mentions, words

pytestmark = pytest.mark.real

DIGESTS = {
    "passages.jsonl": "6c73db51c1f9951b1ca28b74b118f292107bfac62a1625d408d9e9f38d173c93",
    "test.jsonl": "582ba301d0908c7eedda3c299d8c2a0bb195d7a73e304c59ebf8206da165ce37",
    "train.jsonl": "a7d5b59a959318e731c9afa4e83e44658909184783b1617d111f2e8fc5bd17a1",
}
"""Of the files that VERSION and the pins stand for; another machine must get the same bytes."""


@pytest.fixture(scope="module")
def data() -> VitalWikiData:
    return module.build(download())


@pytest.fixture(scope="module")
def questions(data: VitalWikiData) -> list[Question]:
    return [*data.questions["train"], *data.questions["test"]]


def test_counts(data: VitalWikiData, questions: list[Question]) -> None:
    """Passages by source, questions by split, and at least 30 relations, each in both splits."""
    assert Counter(p.id.split("-")[0] for p in data.passages) == {"wiki": 10029, "factbook": 1485, "dates": 1045}
    assert {split: len(asked) for split, asked in data.questions.items()} == {"train": 4741, "test": 1414}
    by_split = {split: {q.relation for q in asked} for split, asked in data.questions.items()}
    assert by_split["train"] == by_split["test"]
    assert len(by_split["train"]) == 36


def test_the_bytes_are_the_same_everywhere(data: VitalWikiData, tmp_path: Path) -> None:
    """Pinned: a change of the builder that changes its output must raise VERSION and these."""
    module._write_whole(tmp_path / "built", data)
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "built").iterdir()}
    assert found == DIGESTS


def test_no_test_fact_is_seen_in_training(data: VitalWikiData) -> None:
    """No entity, no pair of passage and answer, not even a supporting passage is on both sides."""
    train, test = data.questions["train"], data.questions["test"]
    assert not {e for q in train for e in q.entities} & {e for q in test for e in q.entities}
    assert not {i for q in train for i in q.supporting} & {i for q in test for i in q.supporting}
    assert not {words(q.text) for q in train} & {words(q.text) for q in test}


def test_answers_stand_in_their_passages(data: VitalWikiData, questions: list[Question]) -> None:
    """An alias occurs, as whole words, in the passage of the last hop (for comparisons, in one of the two)."""
    texts = {p.id: f"{p.title} {p.text}" for p in data.passages}
    for q in questions:
        evidence = q.supporting if q.relation.startswith("compare.") else q.supporting[-1:]
        assert any(mentions(texts[i], a) for i in evidence for a in q.answers), q


def test_records_are_well_formed(data: VitalWikiData, questions: list[Question]) -> None:
    """One or two hops, clean text, no answer twice, passages that exist and do not repeat."""
    ids = {p.id for p in data.passages}
    for q in questions:
        assert q.hops in (1, 2)
        assert set(q.supporting) <= ids
        assert len(set(q.supporting)) == q.hops
        assert len(set(q.answers)) == len(q.answers)
        assert not [text for text in (q.text, *q.answers) if text != " ".join(text.split()) or "<" in text or "&" in text], q
    assert not [p for p in data.passages if not p.title.strip() or p.text != p.text.strip() or "&amp;" in p.text or "<br" in p.text]


@pytest.mark.parametrize(
    ("relation", "subject", "answer"),
    [
        ("capital.country", "Rome", "Italy"),
        ("element.by_symbol", "Sn", "Tin"),
        ("country.tld", "Germany", ".de"),
        ("country.currency", "Japan", "yen"),
        ("work.creator", "Moby-Dick", "Herman Melville"),
        ("person.birth_year", "Rembrandt", "1606"),
        ("place.country", "Johannesburg", "South Africa"),
        ("place.country", "Busan", "South Korea"),
        ("country.independence_date", "India", "15 August 1947"),
    ],
)
def test_known_facts(relation: str, subject: str, answer: str, questions: list[Question]) -> None:
    """A few that anybody can check, among them places whose country is easily misread."""
    [asked] = [q for q in questions if q.relation == relation and mentions(q.text, subject)]
    assert answer in asked.answers


def test_two_hop_questions_never_name_their_second_passage(data: VitalWikiData, questions: list[Question]) -> None:
    """The first search must find out what the second is about."""
    titles = {p.id: p.title.rsplit(" (", 1)[0] for p in data.passages}
    bridges = [q for q in questions if q.hops == 2 and not q.compares]
    named = [q for q in bridges if mentions(q.text, titles[q.supporting[1]])]
    assert not named, named[:5]


def test_tasks_load_quickly_from_the_cache() -> None:
    """Through the component, with demonstrations: ids unique, one attempt each, and the titles found."""
    tasks = VitalWiki(demonstrations=True).tasks("test")
    assert len({t.id for t in tasks}) == len(tasks) == 1414
    assert all(len(t.recorded[0]) == int(t.labels["hops"]) + 1 for t in tasks)
    assert attrs.asdict(tasks[0])["id"] == "vitalwiki/test-00000"


def test_calculations(data: VitalWikiData) -> None:
    """Counts by split and relation; what any reader can check."""
    found = calculations(data.passages)
    counted = {split: Counter(c.question.relation.removeprefix("calculated.") for c in kept) for split, kept in found.items()}
    assert counted == {
        "train": {"turned": 240, "lifespan": 240, "apart": 240, "peak": 168, "area": 77},
        "test": {"turned": 80, "lifespan": 80, "apart": 80, "peak": 51, "area": 32},
    }
    by_text = {c.question.text: c.question.answers[0] for kept in found.values() for c in kept}
    assert by_text["How many years lie between the birth years of Gene Kelly and Henri Matisse?"] == "43"
    assert by_text["By how many metres is the highest point of Albania above that of Slovakia?"] == "109"


def test_a_demonstrated_search_shows_the_numbers(data: VitalWikiData) -> None:
    """As the recipes search, two passages of 32 words: of 95 in 100 test questions all numbers are shown."""
    tool = Search(corpus=VitalWikiCorpus(), top_k=2, words=32)
    tool.prepare()
    kept = calculations(data.passages)["test"]
    shown = 0
    for c in kept:
        seen = " ".join([c.question.text, *(part for query in c.queries for part in asyncio.run(tool.call(query)).parts)])
        shown += set(re.findall(r"\d+", c.expression)) <= set(re.findall(r"\d+", seen.replace(",", "")))
    tool.close()
    assert shown >= 0.95 * len(kept)
