"""From sources to passages and questions, and the cache of the result."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from jackfield.packages import cache_folder
from jackfield.types import Passage
from jackfield_vitalwiki.articles import read_articles
from jackfield_vitalwiki.comparisons import area_comparisons, birth_comparisons, work_comparisons
from jackfield_vitalwiki.countries import country_questions
from jackfield_vitalwiki.elements import element_questions
from jackfield_vitalwiki.factbook import read_countries
from jackfield_vitalwiki.people import person_questions, read_people
from jackfield_vitalwiki.places import place_questions
from jackfield_vitalwiki.questions import Question, select
from jackfield_vitalwiki.sources import Sources, download, pins_digest
from jackfield_vitalwiki.works import read_works, work_questions

VERSION = 2
"""Raise it with any change that changes a passage or a question: caches and indexes carry it in their names."""

_log = logging.getLogger(__name__)


@frozen(kw_only=True)
class VitalWikiData:
    """Everything built: all passages, and the questions of each split, in their final order."""

    passages: tuple[Passage, ...]
    questions: Mapping[str, tuple[Question, ...]]


def fingerprint() -> str:
    """Names what is built: the builder's version and the packages' pins."""
    return f"vitalwiki-{VERSION}-{pins_digest()}"


def build(sources: Sources) -> VitalWikiData:
    """Passages and questions; the same sources give the same bytes on every machine."""
    articles = read_articles(sources.summaries)
    people = read_people(articles, sources)
    works = read_works(articles, people)
    countries = read_countries(sources.factbook)
    states = [country for country in countries.values() if country.is_state]

    passages = [article.passage for article in articles.values()]
    passages += [passage for country in countries.values() for passage in country.passages.values()]
    passages += [passage for person in people.values() if (passage := person.dates_passage)]
    questions = [
        *person_questions(people, articles),
        *work_questions(works),
        *element_questions(articles),
        *country_questions(states),
        *place_questions(articles, countries),
        *birth_comparisons(people),
        *work_comparisons(works),
        *area_comparisons(states),
    ]
    selected = select(questions, {passage.id: passage for passage in passages})
    return VitalWikiData(passages=tuple(passages), questions={split: tuple(kept) for split, kept in selected.items()})


def load_passages() -> list[Passage]:
    """All passages, from the cache; builds it first if need be."""
    return [Passage(**row) for row in _rows("passages.jsonl")]


def load_questions(split: str) -> list[Question]:
    """The questions of a split, from the cache; builds it first if need be."""
    return [Question(**{key: _frozen(value) for key, value in row.items()}) for row in _rows(f"{split}.jsonl")]


def _rows(name: str) -> list[dict[str, Any]]:
    with (_cached() / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _cached() -> Path:
    folder = cache_folder() / fingerprint()
    if not folder.exists():
        _log.info("building vitalwiki's passages and questions")
        _write_whole(folder, build(download()))
    return folder


def _write_whole(folder: Path, data: VitalWikiData) -> None:
    """All files or none: written beside, then renamed. Of two processes that build at once the first wins; both wrote the same."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-partial-") as partial:
        whole = Path(partial) / "whole"
        whole.mkdir()
        _write(whole / "passages.jsonl", data.passages)
        for split, questions in data.questions.items():
            _write(whole / f"{split}.jsonl", questions)
        try:
            whole.rename(folder)
        except OSError:
            if not folder.exists():
                raise


def _write(path: Path, records: Iterable[Passage | Question]) -> None:
    rows = (json.dumps(attrs.asdict(record), ensure_ascii=False) for record in records)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8", newline="\n")


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


__all__ = ["VERSION", "VitalWikiData", "build", "fingerprint", "load_passages", "load_questions"]
