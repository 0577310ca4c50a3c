from __future__ import annotations

import pytest

from jackfield_vitalwiki import country_facts
from jackfield_vitalwiki.factbook import Country, read_countries
from jackfield_vitalwiki.sources import Date, Sources


@pytest.fixture
def freedonia(sources: Sources) -> Country:
    return read_countries(sources.factbook)["fd"]


@pytest.fixture
def sylvania(sources: Sources) -> Country:
    return read_countries(sources.factbook)["sy"]


def test_clear_answers_with_aliases(freedonia: Country) -> None:
    """The factbook's form first, then other names, without accents, without the word for mountain, without the dot."""
    assert country_facts.capital(freedonia) == ("Grünstadt", "Grunstadt")
    assert country_facts.highest_point(freedonia) == ("Mount Marx", "Duck Hill", "Marx")
    assert country_facts.internet_code(freedonia) == (".fd", "fd")
    assert country_facts.language(freedonia) == ("Fredonian",)
    assert country_facts.area(freedonia) == 100_000
    date, rulers = country_facts.independence(freedonia) or (None, ())
    assert date == Date(1833, 7, 4)
    assert rulers[:2] == ("United Kingdom", "UK")


def test_what_is_unclear_is_not_asked(sylvania: Country) -> None:
    """Unnamed peaks, several official languages, several codes, no date; a seat of government is not the capital."""
    assert country_facts.capital(sylvania) == ("Trentino",)
    assert country_facts.highest_point(sylvania) == ()
    assert country_facts.internet_code(sylvania) == ()
    assert country_facts.language(sylvania) == ()
    assert country_facts.independence(sylvania) is None
    assert country_facts.area(sylvania) == 50_000


def capital_of(text: str, code: str = "zz") -> tuple[str, ...]:
    return country_facts.capital(Country(code=code, name="Zed", document={"Government": {"Capital": {"name": {"text": text}}}}))


def test_capitals() -> None:
    """Brackets hold other names, unless they explain; two cities are no answer, nor is a country with a disputed capital."""
    assert capital_of("Vientiane (Viangchan)") == ("Vientiane", "Viangchan")
    assert capital_of("Majuro (located on an atoll)") == ("Majuro",)
    assert capital_of("Here, There") == ()
    assert capital_of("Washington, D.C.") == ("Washington, D.C.", "Washington", "Washington DC")
    assert capital_of("Sucre", code="bl") == ()


def test_a_shared_peak_stands_for_no_country() -> None:
    """Two names for one peak, or a peak on a border, must not stand for the country in a longer question."""

    def key(peak: str, code: str = "zz") -> str:
        document = {"Geography": {"Elevation": {"highest point": {"text": f"{peak} 1,000 m"}}}}
        return country_facts.peak_key(Country(code=code, name="Zed", document=document))

    assert key("Pic Bor on Mont Gor") == "bor"
    assert key("Bor/Gor") == ""
    assert key("Mount Everest", code="np") == ""
