from __future__ import annotations

import pytest

from jackfield_vitalwiki.articles import Article, read_articles
from jackfield_vitalwiki.people import read_people
from jackfield_vitalwiki.questions import Question
from jackfield_vitalwiki.sources import Sources
from jackfield_vitalwiki.works import read_works, work_questions


@pytest.fixture
def questions(sources: Sources) -> dict[tuple[str, str], Question]:
    articles = read_articles(sources.summaries)
    works = read_works(articles, read_people(articles, sources))
    return {(q.relation, q.supporting[0]): q for q in work_questions(works)}


@pytest.fixture
def film(sources: Sources) -> Article:
    return read_articles(sources.summaries)["Night Train (film)"]


def test_maker_and_year(questions: dict[tuple[str, str], Question], film: Article) -> None:
    """A film is directed and released; the question names it without its bracket; the maker is the entity that is split."""
    creator = questions["work.creator", film.id]
    assert creator.text in ("Who directed the film Night Train?", "Which filmmaker directed the film Night Train?")
    assert creator.answers == ("Bruno Feld", "Feld")
    assert creator.entities == ("Bruno Feld",)
    assert questions["work.year", film.id].text == "In what year was the film Night Train released?"
    assert questions["work.year", film.id].answers == ("1985",)


def test_two_hops_go_through_the_maker(questions: dict[tuple[str, str], Question], film: Article) -> None:
    """The work's passage first, then the maker's article for years or his dates for days."""
    asked = questions["work.creator.birth_date", film.id]
    assert "the director of the film Night Train" in asked.text
    assert asked.hops == 2
    assert asked.supporting[1].startswith("dates-")
    assert "9 May 1950" in asked.answers
    assert questions["work.creator.death_year", film.id].answers == ()


@pytest.mark.parametrize(
    "description",
    ["1840 series of novels by Ada Stone", "Novel by Ada Stone and Bruno Feld", "1840 novel by Nobody Known", "Novel"],
)
def test_what_is_not_one_work_of_one_known_maker(description: str, sources: Sources) -> None:
    """Series, joint works and unknown makers give no question."""
    row = {**sources.summaries["The Long Field"], "description": description}
    articles = read_articles({**sources.summaries, "The Long Field": row})
    works = read_works(articles, read_people(articles, sources))
    assert [work.article.title for work in works] == ["Night Train (film)"]
