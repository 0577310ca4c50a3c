"""Question answering over Wikipedia's vital articles and the World Factbook, built from pinned packages at first use."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_data(register: Register) -> None:
    register("vitalwiki", "jackfield_vitalwiki.data:VitalWiki", "One- and two-hop questions on Wikipedia's vital articles.")
    register("worldfacts", "jackfield_vitalwiki.data:WorldFacts", "Its public-domain part: questions on countries only.")
    register(
        "vitalwiki_calculations",
        "jackfield_vitalwiki.data:VitalWikiCalculations",
        "Questions that need searching and then arithmetic, over the corpus vitalwiki.",
    )
    register(
        "worldfacts_calculations",
        "jackfield_vitalwiki.data:WorldFactsCalculations",
        "Its public-domain part: areas and heights of countries.",
    )


@hookimpl
def jackfield_corpora(register: Register) -> None:
    register("vitalwiki", "jackfield_vitalwiki.corpus:VitalWikiCorpus", "12.5k passages: vital articles, factbook, life dates.")
    register("worldfacts", "jackfield_vitalwiki.corpus:WorldFactsCorpus", "1.5k public-domain passages of the World Factbook.")
