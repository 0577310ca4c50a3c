from __future__ import annotations

import pytest

from jackfield_vitalwiki.articles import Article, read_articles
from jackfield_vitalwiki.people import Person, person_questions, read_people
from jackfield_vitalwiki.sources import Date, Sources


@pytest.fixture
def articles(sources: Sources) -> dict[str, Article]:
    return read_articles(sources.summaries)


@pytest.fixture
def people(articles: dict[str, Article], sources: Sources) -> dict[str, Person]:
    return read_people(articles, sources)


def test_dates_need_two_sources_that_agree(people: dict[str, Person]) -> None:
    """Two birthdays for one name give none; a death in another year than the article's gives none."""
    assert people["Ada Stone"].birth == Date(1801, 3, 2)
    assert people["Ada Stone"].death == Date(1877, 11, 21)
    assert people["Carla Stone"].birth is None
    assert people["Dora Quill"].birth == Date(1822, 1, 1)
    assert people["Dora Quill"].death is None


def test_surnames_are_aliases_only_if_unique(people: dict[str, Person]) -> None:
    """Two Stones: neither is called by the surname alone."""
    assert people["Ada Stone"].aliases == ("Ada Stone",)
    assert people["Bruno Feld"].aliases == ("Bruno Feld", "Feld")


def test_the_passage_of_dates(people: dict[str, Person]) -> None:
    """Occupation, birth and death in one line; no passage without a birth."""
    passage = people["Ada Stone"].dates_passage
    assert passage is not None
    assert passage.text == "Ada Stone, English novelist. Born on 2 March 1801. Died on 21 November 1877."
    assert passage.id == "dates-00000"
    assert people["Carla Stone"].dates_passage is None


def test_years_are_asked_of_the_article_and_days_of_the_dates(people: dict[str, Person], articles: dict[str, Article]) -> None:
    """Each fact names the passage that tells it; a death that is not known has no answers."""
    asked = {(q.entities[0], q.relation): q for q in person_questions(people, articles)}
    assert asked["Ada Stone", "person.death_year"].answers == ("1877",)
    assert asked["Ada Stone", "person.death_year"].supporting == ("wiki-00000",)
    assert asked["Ada Stone", "person.birth_date"].supporting == ("dates-00000",)
    assert "March 2, 1801" in asked["Ada Stone", "person.birth_date"].answers
    assert asked["Bruno Feld", "person.death_date"].answers == ()
