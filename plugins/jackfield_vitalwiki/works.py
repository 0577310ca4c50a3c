"""Films, books, paintings, music: who made them and when. Read from descriptions such as "1968 film by Stanley Kubrick"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from attrs import frozen

from jackfield_vitalwiki.articles import Article
from jackfield_vitalwiki.people import FACTS, Person
from jackfield_vitalwiki.questions import Question, ask
from jackfield_vitalwiki.text import mentions

_MADE_BY = re.compile(
    r"(?:(?P<year>\d{4}) )?(?P<kind>[^()]*?)(?: directed| written| composed| created| painted)? by (?P<maker>[A-Z][^,;]+)"
)
_NOT_ONE_WORK = re.compile(
    r"\b(?:based on|translations?|series of|collection|franchise|character|encyclop|work of history|trilogy)\b", re.IGNORECASE
)
_STAGED = ("play", "tragedy", "comedy", "epic")
"""Written, performed and printed in different years: their year is not asked."""


@frozen(kw_only=True)
class Craft:
    """One way of making: how works are recognised, and how one speaks of them and of their makers.

    ``{work}`` is the noun and name ("the film Jaws"), or the bare name where the art needs no noun.
    """

    nouns: str
    who: tuple[str, ...]
    maker: str
    year: str | None = None
    noun: str = "{work}"


CRAFTS = (
    Craft(
        nouns="film",
        who=("Who directed {}?", "Which filmmaker directed {}?"),
        maker="the director of {}",
        year="In what year was {} released?",
        noun="the {noun} {name}",
    ),
    Craft(
        nouns="novel|novella|children's novel|book|treatise|essay|short story|story|poem|epic|play|tragedy|comedy",
        who=("Who wrote {}?", "Who is the author of {}?"),
        maker="the author of {}",
        year="In what year was {} published?",
        noun="the {noun} {name}",
    ),
    Craft(
        nouns="painting|fresco|mural|triptych",
        who=("Who painted {}?", "Which artist painted {}?"),
        maker="the artist who painted {}",
        noun="{name}",
    ),
    Craft(
        nouns="sculpture|statue",
        who=("Who sculpted {}?", "Which sculptor created {}?"),
        maker="the artist who sculpted {}",
        noun="{name}",
    ),
    Craft(
        nouns="opera|ballet|symphony|concerto|mass|oratorio|requiem|sonata|string quartet|waltz|orchestral|musical composition",
        who=("Who composed {}?", "Which composer wrote {}?"),
        maker="the composer of {}",
        noun="the {noun} {name}",
    ),
    Craft(nouns="manga", who=("Who created {}?",), maker="the creator of {}", noun="the manga series {name}"),
)


@frozen(kw_only=True)
class Work:
    """A film, novel, painting … with an article of its own, and who made it."""

    article: Article
    maker: Person
    craft: Craft
    noun: str
    year: int | None

    @property
    def called(self) -> str:
        """``"the film Jaws"``, ``"Guernica"``."""
        return self.craft.noun.format(noun=self.noun, name=self.article.name)


def read_works(articles: Mapping[str, Article], people: Mapping[str, Person]) -> list[Work]:
    """The works whose single maker has an article of his own and is named by the work's lead too."""
    return [work for article in articles.values() if (work := _work(article, people)) is not None]


def work_questions(works: list[Work]) -> Iterator[Question]:
    """Who made a work and when, and facts about its maker (two hops)."""
    for work in works:
        maker, article = work.maker.article.title, work.article
        yield ask("work.creator", work.craft.who, work.called, work.maker.aliases, [article.id], maker)
        if work.year and work.craft.year and work.noun not in _STAGED and mentions(article.lead, str(work.year)):
            yield ask("work.year", (work.craft.year,), work.called, (str(work.year),), [article.id], maker)
        for name in ("birth_year", "birth_date", "death_year"):
            fact = FACTS[name]
            supporting = [article.id, fact.passage_id(work.maker)]
            subject = work.craft.maker.format(work.called)
            yield ask(f"work.creator.{name}", fact.wordings[:2], subject, fact.answers(work.maker), supporting, maker)


def _work(article: Article, people: Mapping[str, Person]) -> Work | None:
    made = _MADE_BY.fullmatch(article.description)
    if made is None or _NOT_ONE_WORK.search(made["kind"]):
        return None
    maker = people.get(made["maker"].strip())
    if maker is None or maker.article.title.split()[-1].lower() not in article.lead.lower():
        return None
    for craft in CRAFTS:
        if noun := re.search(rf"\b(?:{craft.nouns})(?=s?\b)", made["kind"], re.IGNORECASE):
            year = int(made["year"]) if made["year"] else None
            return Work(article=article, maker=maker, craft=craft, noun=noun[0].lower(), year=year)
    return None
