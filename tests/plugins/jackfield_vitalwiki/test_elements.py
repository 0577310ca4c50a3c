from __future__ import annotations

from jackfield_vitalwiki.articles import read_articles
from jackfield_vitalwiki.elements import element_questions
from jackfield_vitalwiki.sources import Sources


def test_four_questions_an_element_all_of_one_entity(sources: Sources) -> None:
    """Number and symbol are asked in both directions, and share the entity, so that one direction cannot leak the other."""
    questions = {q.relation: q for q in element_questions(read_articles(sources.summaries))}
    assert {relation: q.answers for relation, q in questions.items()} == {
        "element.number": ("29",),
        "element.symbol": ("Cu",),
        "element.by_number": ("Copper",),
        "element.by_symbol": ("Copper",),
    }
    assert {q.entities for q in questions.values()} == {("Copper",)}
