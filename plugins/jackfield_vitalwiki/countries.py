"""Questions on countries, in one hop and through what stands for a country: its capital, internet code, highest point, a place in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from jackfield_vitalwiki.country_facts import capital, highest_point, independence, internet_code, language, peak_key
from jackfield_vitalwiki.currency import currency
from jackfield_vitalwiki.factbook import Country, with_article
from jackfield_vitalwiki.questions import Question, ask, spell
from jackfield_vitalwiki.text import mentions


@frozen
class CountryFact:
    """Something asked of a country, and the section of the factbook that tells it."""

    name: str
    section: str
    wordings: tuple[str, ...]
    answers: Callable[[Country], tuple[str, ...]]


CAPITAL = CountryFact(
    "capital",
    "government",
    ("What is the capital of {}?", "Which city is the capital of {}?", "Name the capital city of {}."),
    capital,
)
CURRENCY = CountryFact("currency", "economy", ("What is the currency of {}?", "Which currency is used in {}?"), currency)
HIGHEST_POINT = CountryFact(
    "highest_point",
    "geography",
    ("What is the highest point of {}?", "Which is the highest point in {}?"),
    highest_point,
)
INTERNET_CODE = CountryFact(
    "tld",
    "communications",
    ("What is the Internet country code of {}?", "Which country-code top-level domain belongs to {}?"),
    internet_code,
)
LANGUAGE = CountryFact("language", "people", ("What is the official language of {}?",), language)

FACTS = (CAPITAL, CURRENCY, HIGHEST_POINT, INTERNET_CODE, LANGUAGE)


def bridged(
    bridge: str, described: Sequence[str], told_by: str, country: Country, facts: Sequence[CountryFact], crowd: str = ""
) -> Iterator[Question]:
    """Two-hop questions: ``described`` ("the country whose capital is Paris") stands for the country, and passage ``told_by`` says
    which it is. None if that gives the country away (Mexico City)."""
    if mentions(described[0], country.name):
        return
    for fact in facts:
        if passage := country.passages.get(fact.section):
            wordings = [wording.replace("{}", subject) for subject in described for wording in fact.wordings[:2]]
            relation, subject = f"{bridge}.country.{fact.name}", described[0]
            yield ask(relation, wordings, subject, fact.answers(country), [told_by, passage.id], country.name, crowd=crowd)


def country_questions(countries: Sequence[Country]) -> Iterator[Question]:
    """For states only."""
    peaks = Counter(map(peak_key, countries))
    for country in countries:
        yield from _one_hop(country)
        yield from _independence(country)
        yield from _two_hops(country, peak_is_unique=peaks[peak_key(country)] == 1)


def _one_hop(country: Country) -> Iterator[Question]:
    for fact in FACTS:
        if passage := country.passages.get(fact.section):
            yield ask(
                f"country.{fact.name}", fact.wordings, country.in_a_sentence, fact.answers(country), [passage.id], country.name
            )
    if city := capital(country):
        wordings = ("{} is the capital of which country?", "Which country has {} as its capital?")
        yield ask("capital.country", wordings, city[0], country.aliases, _told_by(country, CAPITAL), country.name)


def _independence(country: Country) -> Iterator[Question]:
    gained = independence(country)
    if gained is None:
        return
    date, rulers = gained
    name, ruler, told_by = country.in_a_sentence, with_article(rulers[0]), _told_by(country, CAPITAL)
    on = (f"On what date did {{}} gain independence from {ruler}?",)
    yield ask("country.independence_date", on, name, spell(date), told_by, country.name)
    since = (f"In what year did {{}} become independent of {ruler}?",)
    yield ask("country.independence_year", since, name, (str(date.year),), told_by, country.name)
    from_whom = (f"From which country did {{}} gain independence in {date.year}?",)
    yield ask("country.independence_from", from_whom, name, rulers, told_by, country.name)


def _two_hops(country: Country, *, peak_is_unique: bool) -> Iterator[Question]:
    if city := capital(country):
        described = (f"the country whose capital is {city[0]}",)
        facts = (CURRENCY, HIGHEST_POINT, INTERNET_CODE, LANGUAGE)
        yield from bridged("capital", described, *_told_by(country, CAPITAL), country, facts)
    if code := internet_code(country):
        described = (f"the country with the Internet country code {code[0]}",)
        yield from bridged("tld", described, *_told_by(country, INTERNET_CODE), country, (CAPITAL,))
    if peak_key(country) and peak_is_unique:
        described = (f"the country whose highest point is {highest_point(country)[0]}",)
        yield from bridged("highest_point", described, *_told_by(country, HIGHEST_POINT), country, (CAPITAL,))


def _told_by(country: Country, fact: CountryFact) -> tuple[str]:
    return (country.passages[fact.section].id,)
