"""Recorded attempts at questions, in the tag protocol of Search-R1 (Jin et al. 2025): what a short supervised warm start learns from."""

from __future__ import annotations

import re
from collections.abc import Mapping

from jackfield_vitalwiki.calculations import Calculation
from jackfield_vitalwiki.questions import Question
from jackfield_vitalwiki.text import draw, mentions


def demonstrate(question: Question, titles: Mapping[str, str]) -> tuple[str, ...]:
    """The policy's turns: one search a hop, then the first answer.

    The first query is the question or, half of the time, the title of the first passage; the title only if the question names it,
    for nobody can search for a title he has not heard of. The second query is the second passage's title, which the first passage
    leads to. The two things of a comparison are looked up by their titles, one after the other.

    titles: passage id → title, for the question's supporting passages.
    """
    queries = [_as_query(titles[passage_id]) for passage_id in question.supporting]
    named = mentions(question.text, re.sub(r"\(.*?\)", "", titles[question.supporting[0]]))
    if not question.compares and not (named and draw((True, False), "query", question.text)):
        queries[0] = question.text.rstrip("?.")
    return (*(f"<search> {query} </search>" for query in queries), f"<answer> {question.answers[0]} </answer>")


def demonstrate_calculation(calculation: Calculation) -> tuple[str, ...]:
    """The policy's turns: one search a number, what to calculate with them, the first answer."""
    searches = (f"<search> {query} </search>" for query in calculation.queries)
    answer = calculation.question.answers[0]
    return (*searches, f"<calculator> {calculation.expression} </calculator>", f"<answer> {answer} </answer>")


def _as_query(title: str) -> str:
    """``"France (Economy)"`` → ``"France Economy"``."""
    return re.sub(r"[()]", "", title)
