from __future__ import annotations

import pytest

from jackfield_vitalwiki.articles import read_articles
from jackfield_vitalwiki.factbook import Country, read_countries
from jackfield_vitalwiki.places import place_questions
from jackfield_vitalwiki.sources import Sources


def test_places_of_today_only(sources: Sources) -> None:
    """A city is asked for; a revolution in it is located in no country, and a title with the country's name gives it away."""
    questions = list(place_questions(read_articles(sources.summaries), read_countries(sources.factbook)))
    assert all("Lakeburg" in q.text and "Commune" not in q.text for q in questions)
    assert {q.relation for q in questions} == {
        "place.country", "place.country.capital", "place.country.currency", "place.country.highest_point", "place.country.tld",
    }  # fmt: skip
    assert {q.entities for q in questions} == {("Freedonia",)}
    assert {q.crowd for q in questions} == {"fd"}


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("City in South Korea", "South Korea"),
        ("City in North Korea", "North Korea"),
        ("City in southern Korea", "South Korea"),
        ("Castle in Northern Ireland", None),
        ("Town in Kildare, Republic of Ireland", "Ireland"),
        ("Ancient city in Ireland", None),
        ("City in Atlantis", None),
    ],
)
def test_the_country_of_a_description(description: str, expected: str | None) -> None:
    """A direction is part of some countries' names and not of others; a part with its own name belongs to neither."""
    countries = {code: Country(code=code, name=name, document={}) for code, name in KOREAS_AND_IRELAND}
    row = {"title": "Somewhere", "description": description, "extract": "x" * 80, "topic": "Geography"}
    found = {q.entities[0] for q in place_questions(read_articles({"Somewhere": row}), countries) if q.relation == "place.country"}
    assert found == ({expected} if expected else set())


KOREAS_AND_IRELAND = [("ks", "South Korea"), ("kn", "North Korea"), ("ei", "Ireland")]
