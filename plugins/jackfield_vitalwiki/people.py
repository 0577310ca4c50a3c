"""People: who they are, when they lived, what is asked about them.

A date is taken only where two sources agree: the year in the article's description and the entry of the "on this day" pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from attrs import frozen

from jackfield.types import Passage
from jackfield_vitalwiki.articles import Article
from jackfield_vitalwiki.questions import Question, ask, spell
from jackfield_vitalwiki.sources import Date, Sources
from jackfield_vitalwiki.text import distinct, unaccented

_LIVED = re.compile(r"\((\d{4})–(\d{4})\)$")
_LIVES = re.compile(r"\(born (\d{4})\)$")
_NO_SURNAME = re.compile(r"\b(?:of|the|de|II|III|IV|VI{0,3})\b")


@frozen(kw_only=True)
class Person:
    """``birth`` and ``death`` are None where the sources don't agree on one day; a death is kept only with a birth."""

    article: Article
    aliases: tuple[str, ...]
    birth: Date | None
    death: Date | None

    @property
    def dates_id(self) -> str:
        return f"dates-{self.article.id.removeprefix('wiki-')}"

    @property
    def dates_passage(self) -> Passage | None:
        """Name, occupation and the days of birth and death, if they are known."""
        if self.birth is None:
            return None
        occupation = re.sub(r" \(.*", "", self.article.description)
        died = f" Died on {spell(self.death)[0]}." if self.death else ""
        text = f"{self.article.title}, {occupation}. Born on {spell(self.birth)[0]}.{died}"
        return Passage(id=self.dates_id, title=f"{self.article.title} (dates)", text=text)


@frozen
class LifeFact:
    """Something asked of a person, also at the end of a longer question."""

    name: str
    wordings: tuple[str, ...]
    answers: Callable[[Person], tuple[str, ...]]
    """Empty if it is not known."""
    in_dates: bool
    """Told by the passage of dates, else by the article."""

    def passage_id(self, person: Person) -> str:
        return person.dates_id if self.in_dates else person.article.id


FACTS = {
    fact.name: fact
    for fact in (
        LifeFact(
            "birth_year",
            ("In what year was {} born?", "What is the birth year of {}?", "{} was born in which year?"),
            lambda person: _year(person.birth),
            in_dates=False,
        ),
        LifeFact(
            "birth_date",
            ("On what date was {} born?", "What is the date of birth of {}?", "On which day, month and year was {} born?"),
            lambda person: _date(person.birth),
            in_dates=True,
        ),
        LifeFact(
            "death_year",
            ("In what year did {} die?", "What is the year of death of {}?", "{} died in which year?"),
            lambda person: _year(person.death),
            in_dates=False,
        ),
        LifeFact(
            "death_date",
            ("On what date did {} die?", "What is the date of death of {}?"),
            lambda person: _date(person.death),
            in_dates=True,
        ),
    )
}


def read_people(articles: Mapping[str, Article], sources: Sources) -> dict[str, Person]:
    """Title → person, for articles of the topic People and those whose description ends with years of life."""
    found = {
        t: a for t, a in articles.items() if a.topic == "People" or _LIVED.search(a.description) or _LIVES.search(a.description)
    }
    surnames = Counter(title.split()[-1] for title in found)
    return {title: _person(article, surnames, sources) for title, article in found.items()}


def person_questions(people: Mapping[str, Person], articles: Mapping[str, Article]) -> Iterator[Question]:
    """Facts about people by their names, where a name means one person."""
    for title, person in people.items():
        name = person.article.name
        if name != title and name in articles:
            continue  # the bare name means somebody or something else
        for fact in FACTS.values():
            yield ask(f"person.{fact.name}", fact.wordings, name, fact.answers(person), [fact.passage_id(person)], title)


def _person(article: Article, surnames: Counter[str], sources: Sources) -> Person:
    lived, lives = _LIVED.search(article.description), _LIVES.search(article.description)
    born = lived or lives
    birth = _only(sources.births.get(article.title), int(born[1])) if born else None
    death = _only(sources.deaths.get(article.title), int(lived[2])) if lived and birth else None
    return Person(article=article, aliases=_aliases(article.title, surnames, dated=born is not None), birth=birth, death=death)


def _aliases(title: str, surnames: Counter[str], *, dated: bool) -> tuple[str, ...]:
    """The full name, and the surname where it is one and nobody else in the corpus bears it."""
    names = [title, re.sub(r"\s*\(.*?\)", "", title)]
    first, *rest = title.split()
    surname = rest[-1] if rest else first
    if rest and dated and surnames[surname] == 1 and len(surname) > 3 and not _NO_SURNAME.search(title):
        names.append(surname)
    return distinct([*names, *map(unaccented, names)])


def _only(days: frozenset[Date] | None, year: int) -> Date | None:
    """The day of that year, if exactly one is given."""
    fitting = [day for day in days or () if day.year == year]
    return fitting[0] if len(fitting) == 1 else None


def _year(date: Date | None) -> tuple[str, ...]:
    return (str(date.year),) if date else ()


def _date(date: Date | None) -> tuple[str, ...]:
    return spell(date) if date else ()
