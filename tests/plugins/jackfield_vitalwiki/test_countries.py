from __future__ import annotations

import pytest

from jackfield_vitalwiki.countries import country_questions
from jackfield_vitalwiki.factbook import Country, read_countries
from jackfield_vitalwiki.questions import Question
from jackfield_vitalwiki.sources import Sources


@pytest.fixture
def questions(sources: Sources) -> dict[str, Question]:
    """Freedonia's, by relation."""
    countries = list(read_countries(sources.factbook).values())
    return {q.relation: q for q in country_questions(countries) if q.entities == ("Freedonia",)}


def test_one_hop_and_its_reverse(questions: dict[str, Question]) -> None:
    """The capital of the country, the country of the capital: one passage, one entity."""
    assert questions["country.capital"].answers == ("Grünstadt", "Grunstadt")
    assert questions["capital.country"].answers == ("Freedonia", "Republic of Freedonia")
    assert "Grünstadt" in questions["capital.country"].text
    assert questions["capital.country"].supporting == ("factbook-fd-government",)


def test_independence(questions: dict[str, Question]) -> None:
    """Date, year and ruler; the ruler with its article and all its names."""
    assert questions["country.independence_year"].text == "In what year did Freedonia become independent of the United Kingdom?"
    assert questions["country.independence_date"].answers[0] == "4 July 1833"
    assert "Great Britain" in questions["country.independence_from"].answers


def test_two_hops_name_the_bridge_not_the_country(questions: dict[str, Question]) -> None:
    """Capital, code and peak stand for the country, which is never named; the bridge's passage comes first."""
    two = {relation: q for relation, q in questions.items() if q.hops == 2}
    assert set(two) == {
        "capital.country.currency", "capital.country.highest_point", "capital.country.language", "capital.country.tld",
        "tld.country.capital", "highest_point.country.capital",
    }  # fmt: skip
    assert all("Freedonia" not in q.text for q in two.values())
    assert two["tld.country.capital"].supporting == ("factbook-fd-communications", "factbook-fd-government")
    assert "the country whose highest point is Mount Marx" in two["highest_point.country.capital"].text


def test_a_bridge_that_names_the_country_is_none() -> None:
    """ "The country whose capital is Mexico City" needs no first search."""
    document = {
        "Government": {
            "Capital": {"name": {"text": "Zed City"}},
            "Country name": {"conventional long form": {"text": "Kingdom of Zed"}},
        },
        "Communications": {
            "Internet country code": {"text": ".zd"},
            "Broadcast media": {"text": "a single station that plays waltzes"},
        },
    }
    country = Country(code="zz", name="Zed", document=document)
    assert {q.relation for q in country_questions([country]) if q.hops == 2} == {"tld.country.capital"}
