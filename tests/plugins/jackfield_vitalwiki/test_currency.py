from __future__ import annotations

from jackfield_vitalwiki.currency import currency
from jackfield_vitalwiki.factbook import Country


def named(text: str, adjective: str = "", code: str = "zz") -> tuple[str, ...]:
    document = {
        "Economy": {"Exchange rates": {"Currency": {"text": text}}},
        "People and Society": {"Nationality": {"adjective": {"text": adjective}}},
    }
    return currency(Country(code=code, name="Zed", document=document))


def test_singular_first_then_plural() -> None:
    """Regular and irregular plurals; a unit that many states have is no answer alone."""
    assert named("Swiss francs (CHF) per US dollar -") == ("Swiss franc", "Swiss francs")
    assert named("Danish kroner (DKK) per US dollar -") == ("Danish krone", "Danish kroner")
    assert named("euros (EUR) per US dollar -", "French") == ("euro", "euros")


def test_bare_units_take_the_nation_but_shared_currencies_do_not() -> None:
    """``Thai baht`` is an alias of baht; Nauru uses the Australian dollar, and there is no Nauruan one."""
    assert named("baht per US dollar -", "Thai") == ("baht", "Thai baht")
    assert named("Australian dollars (AUD) per US dollar -", "Nauruan") == ("Australian dollar", "Australian dollars")
    assert named("zlotych (PLN) per US dollar -", "Polish", "pl") == ("zloty", "złoty", "Polish złoty", "zlotych", "Polish zloty")


def test_cfa_francs_have_their_usual_names() -> None:
    """The factbook spells the French name out, with and without accents."""
    assert (
        named("Coop&eacute;ration Financi&egrave;re en Afrique Centrale francs (XAF) per US dollar")[0]
        == "Central African CFA franc"
    )
    assert named("Communaute Financiere Africaine francs (XOF) per US dollar")[0] == "West African CFA franc"


def test_uncertain_currencies_are_not_asked() -> None:
    """Several currencies, or one changed since: no answer."""
    assert named("Tuvaluan dollars or Australian dollars (AUD) per US dollar -") == ()
    assert named("togrog/tugriks (MNT) per US dollar -") == ()
    assert named("leva (BGN) per US dollar -", code="bu") == ()
    assert named("") == ()
