"""The questions as tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from attrs import frozen

from jackfield.component import at_least, option
from jackfield.types import Message, Task
from jackfield_vitalwiki.build import load_passages, load_questions
from jackfield_vitalwiki.calculations import Calculation, calculations
from jackfield_vitalwiki.corpus import is_public_domain
from jackfield_vitalwiki.demonstrations import demonstrate, demonstrate_calculation
from jackfield_vitalwiki.questions import Question


@frozen(kw_only=True)
class VitalWiki:
    """Questions in one and two hops over the corpus ``vitalwiki``, split by entity: no fact of a test question is seen in training.

    A task's prompt is the bare question; its labels are ``hops`` and ``relation``, and ``extra["supporting_ids"]`` are the passages
    that answer it, one a hop.
    """

    hops: Literal["1", "2", "all"] = option("all", help="questions that need one search, two, or both kinds")
    demonstrations: bool = option(False, help="record one attempt a task (searches, then the answer) for a supervised warm start")
    limit: int = option(0, help="only the first so many tasks of a split; 0: all", check=at_least(0))

    _name: ClassVar[str] = "vitalwiki"
    _public_domain_only: ClassVar[bool] = False

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """A task keeps its id whatever the keys are."""
        titles = {passage.id: passage.title for passage in load_passages()} if self.demonstrations else {}
        questions = [q for q in load_questions(split) if not self._public_domain_only or all(map(is_public_domain, q.supporting))]
        wanted = [(number, q) for number, q in enumerate(questions) if self.hops in ("all", str(q.hops))]
        return [self._task(f"{self._name}/{split}-{number:05d}", q, titles) for number, q in wanted[: self.limit or None]]

    def _task(self, task_id: str, question: Question, titles: Mapping[str, str]) -> Task:
        return _task(task_id, question, demonstrate(question, titles) if self.demonstrations else None)


@frozen(kw_only=True)
class WorldFacts(VitalWiki):
    """The questions of ``vitalwiki`` that the World Factbook alone answers: everything in the public domain. Corpus ``worldfacts``."""

    _name: ClassVar[str] = "worldfacts"
    _public_domain_only: ClassVar[bool] = True


@frozen(kw_only=True)
class VitalWikiCalculations:
    """Questions whose answer no passage of the corpus ``vitalwiki`` says: one or two numbers must be searched for, then calculated with
    (years that people lived, years between their births, areas and heights of two countries). Split by entity, as ``vitalwiki`` is.

    Labels and ``extra`` are those of ``vitalwiki``. A recorded attempt calls the tools ``search`` and ``calculator`` by tags of these
    names, then answers.
    """

    demonstrations: bool = option(
        False, help="record one attempt a task (searches, a calculation, the answer) for a supervised warm start"
    )
    limit: int = option(0, help="only the first so many tasks of a split; 0: all", check=at_least(0))

    _name: ClassVar[str] = "vitalwiki_calculations"
    _public_domain_only: ClassVar[bool] = False

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """A task keeps its id whatever the keys are."""
        found = calculations(load_passages())[split]
        wanted = [c for c in found if not self._public_domain_only or all(map(is_public_domain, c.question.supporting))]
        return [self._task(f"{self._name}/{split}-{number:05d}", c) for number, c in enumerate(wanted[: self.limit or None])]

    def _task(self, task_id: str, calculation: Calculation) -> Task:
        return _task(task_id, calculation.question, demonstrate_calculation(calculation) if self.demonstrations else None)


@frozen(kw_only=True)
class WorldFactsCalculations(VitalWikiCalculations):
    """Those of ``vitalwiki_calculations`` that the World Factbook alone answers: areas and heights of countries. Corpus ``worldfacts``."""

    _name: ClassVar[str] = "worldfacts_calculations"
    _public_domain_only: ClassVar[bool] = True


def _task(task_id: str, question: Question, attempt: tuple[str, ...] | None) -> Task:
    return Task(
        id=task_id,
        prompt=(Message(role="user", content=question.text),),
        answers=question.answers,
        recorded=() if attempt is None else (attempt,),
        labels={"hops": str(question.hops), "relation": question.relation},
        extra={"supporting_ids": list(question.supporting)},
    )
