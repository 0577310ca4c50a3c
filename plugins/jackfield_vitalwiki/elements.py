"""Chemical elements, read from descriptions such as "Chemical element with atomic number 29 (Cu)"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from jackfield_vitalwiki.articles import Article
from jackfield_vitalwiki.questions import Question, ask

_ELEMENT = re.compile(r"Chemical element with atomic number (?P<number>\d+) \((?P<symbol>\w+)\)")
_SPELLED = {"Aluminium": "Aluminum", "Caesium": "Cesium", "Sulfur": "Sulphur"}


def element_questions(articles: Mapping[str, Article]) -> Iterator[Question]:
    """Atomic numbers and symbols of the chemical elements."""
    for title, article in articles.items():
        element = _ELEMENT.fullmatch(article.description)
        if element is None:
            continue
        number, symbol, name = element["number"], element["symbol"], article.name
        names, told = (name, _SPELLED.get(name, "")), [article.id]
        of = ("What is the atomic number of {}?", "Which atomic number does the element {} have?")
        yield ask("element.number", of, name.lower(), (number,), told, title)
        of = ("What is the chemical symbol of {}?", "Which chemical symbol stands for the element {}?")
        yield ask("element.symbol", of, name.lower(), (symbol,), told, title)
        of = ("Which chemical element has atomic number {}?", "What is the name of the chemical element with atomic number {}?")
        yield ask("element.by_number", of, number, names, told, title)
        of = ("Which chemical element has the symbol {}?", "{} is the symbol of which chemical element?")
        yield ask("element.by_symbol", of, symbol, names, told, title)
