"""The passages as corpora for a search tool."""

from __future__ import annotations

from attrs import frozen

from jackfield.types import Passage
from jackfield_vitalwiki.build import fingerprint, load_passages


@frozen(kw_only=True)
class VitalWikiCorpus:
    """10,000 leads of Wikipedia's vital articles (CC BY-SA 4.0), 1,500 sections of the World Factbook (public domain) and 1,000 lines
    of birth and death dates (CC BY-SA 3.0)."""

    def passages(self) -> list[Passage]:
        return load_passages()

    @property
    def fingerprint(self) -> str:
        return fingerprint()


@frozen(kw_only=True)
class WorldFactsCorpus:
    """The sections of the World Factbook alone: in the public domain."""

    def passages(self) -> list[Passage]:
        return [passage for passage in load_passages() if is_public_domain(passage.id)]

    @property
    def fingerprint(self) -> str:
        return f"worldfacts-{fingerprint()}"


def is_public_domain(passage_id: str) -> bool:
    """Whether a passage may be used without attribution: those of the CIA World Factbook."""
    return passage_id.startswith("factbook-")
