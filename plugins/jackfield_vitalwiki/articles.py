"""Wikipedia's vital articles: one passage each, the description before the lead because it holds years and makers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import frozen

from jackfield.types import Passage
from jackfield_vitalwiki.text import clean

SHORTEST_LEAD = 60
"""Characters; shorter leads are stubs or parsing accidents."""


@frozen(kw_only=True)
class Article:
    """Example: ``Article(id="wiki-08990", title="The Birds (film)", description="1963 film by …", lead="The Birds is …", topic="Arts")``"""

    id: str
    title: str
    description: str
    lead: str
    topic: str

    @property
    def name(self) -> str:
        """The title without a bracket that tells it from others: ``"The Birds"``."""
        return re.sub(r"\s*\([^()]*\)$", "", self.title)

    @property
    def passage(self) -> Passage:
        described = f"{self.description[0].upper()}{self.description[1:]}. " if self.description else ""
        return Passage(id=self.id, title=self.title, text=described + self.lead)


def read_articles(summaries: Mapping[str, Mapping[str, str]]) -> dict[str, Article]:
    """Title → article, in the order of the titles."""
    articles = {}
    for number, (_, row) in enumerate(sorted(summaries.items())):
        title, lead = clean(row["title"]), clean(row["extract"])
        if len(lead) >= SHORTEST_LEAD:
            articles[title] = Article(
                id=f"wiki-{number:05d}", title=title, lead=lead, description=clean(row.get("description")), topic=row["topic"]
            )
    return articles
