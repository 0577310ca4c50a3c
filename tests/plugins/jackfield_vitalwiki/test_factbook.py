from __future__ import annotations

import pytest

from jackfield_vitalwiki.factbook import Country, read_countries, with_article
from jackfield_vitalwiki.sources import Sources


@pytest.fixture
def freedonia(sources: Sources) -> Country:
    return read_countries(sources.factbook)["fd"]


def test_text_finds_leaves_through_untidy_keys(freedonia: Country) -> None:
    """Capitals and trailing spaces of keys don't matter; a missing path is empty; a field of leaves gives them all."""
    assert freedonia.text("geography", "Area", "total") == "100,000 sq km"
    assert freedonia.text("Geography", "Coastline", "length") == ""
    assert freedonia.text("Government", "Country name").startswith("conventional short form Freedonia; conventional long form")


def test_passages_hold_labelled_clean_fields(freedonia: Country) -> None:
    """One passage a section that says something, named by country and section; exchange rates are cut to the currency."""
    economy = freedonia.passages["economy"]
    assert economy.id == "factbook-fd-economy"
    assert economy.title == "Freedonia (Economy)"
    assert economy.text == "Freedonia. Currency: Freedonian dollars (FRD). Industries: wool, wine, paper & pencils."
    assert (
        freedonia.passages["background"].text == "Freedonia. Freedonia is made up for a test. Nobody has ever lived there or will."
    )


def test_oceans_are_no_countries(sources: Sources) -> None:
    """A document without a name gives none."""
    assert list(read_countries(sources.factbook)) == ["fd", "sy"]


def test_long_passages_are_cut_at_a_word() -> None:
    """170 words, then an ellipsis."""
    document = {"Introduction": {"Background": {"text": "word " * 400}}}
    text = Country(code="zz", name="Zed", document=document).passages["background"].text
    assert text == f"Zed. {' '.join(['word'] * 170)} ..."


def test_names() -> None:
    """Some names take an article within a sentence; aliases come with and without accents."""
    assert with_article("Netherlands") == "the Netherlands"
    assert with_article("The Gambia") == "the Gambia"
    assert with_article("Peru") == "Peru"
    assert Country(code="tu", name="Turkey", document={}).aliases == ("Turkey", "Türkiye", "Turkiye")


def test_dependencies_are_no_states() -> None:
    """Nothing is asked about territories, unions and places whose status is disputed."""
    assert Country(code="fr", name="France", document={}).is_state
    assert not Country(code="gl", name="Greenland", document={"Government": {"Dependency status": {"text": "part of …"}}}).is_state
    assert not Country(code="ee", name="European Union", document={}).is_state
    assert not Country(code="tw", name="Taiwan", document={}).is_state


def test_a_section_that_says_little_has_no_passage() -> None:
    """Under 40 characters there is nothing to find."""
    document = {"Geography": {"Climate": {"text": "mild"}}, "Economy": {"Industries": {"text": "wool and wine, paper and pencils"}}}
    assert list(Country(code="zz", name="Zed", document=document).passages) == ["economy"]
