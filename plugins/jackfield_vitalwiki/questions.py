"""What a question is, which ones are sound, and how they are split, thinned out and ordered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from jackfield.types import Passage
from jackfield_vitalwiki.sources import Date
from jackfield_vitalwiki.text import distinct, draw, mentions, rank, words

TEST_SHARE = 25
"""Per cent of the entities whose facts are asked only in the test split."""
MOST_OF_A_RELATION = {"train": 260, "test": 90}
MOST_OF_A_CROWD = {"place.country.tld": 4}
"""Questions of one relation, split and crowd (see ``Question.crowd``) that are kept, where it is not 8."""

_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]


@frozen(kw_only=True)
class Question:
    """A question with its answers and the passages that answer it, one a hop.

    entities: what its facts are about. Entities, not questions, are split, so that no test fact is seen in training: neither asked
    the other way round nor as one hop of a longer question.
    crowd: questions of one relation that are alike (all cities of one country); only a few of a crowd are kept.

    Example::

        Question(relation="work.creator", text="Who painted Guernica?", answers=("Pablo Picasso", "Picasso"),
                 supporting=("wiki-03767",), entities=("Pablo Picasso",))
    """

    relation: str
    text: str
    answers: tuple[str, ...]
    supporting: tuple[str, ...]
    entities: tuple[str, ...]
    crowd: str = ""

    @property
    def hops(self) -> int:
        return len(self.supporting)

    @property
    def compares(self) -> bool:
        """The answer is one of two things that the question names."""
        return self.relation.startswith("compare.")

    @property
    def split(self) -> str | None:
        """``"train"`` or ``"test"``; None if its entities fall on both sides."""
        sides = {split_of(entity) for entity in self.entities}
        return sides.pop() if len(sides) == 1 else None


def split_of(entity: str) -> str:
    """The split of all questions about an entity, drawn from its name."""
    return "test" if rank("split", entity) % 100 < TEST_SHARE else "train"


def ask(
    relation: str,
    wordings: Sequence[str],
    subject: str,
    answers: Iterable[str],
    supporting: Sequence[str],
    entity: str,
    *,
    crowd: str = "",
) -> Question:
    """A question in one of several wordings; ``{}`` stands for the subject."""
    text = draw(wordings, relation, subject).format(subject)
    return Question(
        relation=relation, text=text, answers=distinct(answers), supporting=tuple(supporting), entities=(entity,), crowd=crowd
    )


def spell(date: Date) -> tuple[str, ...]:
    """The usual spellings of a date, the passages' own first."""
    day, month, year = date.day, _MONTHS[date.month - 1], date.year
    ordinal = f"{day}{'th' if 11 <= day <= 13 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"
    return (
        f"{day} {month} {year}", f"{month} {day}, {year}", f"{year}-{date.month:02d}-{day:02d}", f"{ordinal} {month} {year}",
        f"{month} {ordinal}, {year}", f"{ordinal} of {month} {year}", f"{ordinal} of {month}, {year}",
    )  # fmt: skip


def read_date(day: str, month: str, year: str) -> Date | None:
    """``("4", "July", "1776")`` as a date; None if the month has another name."""
    return Date(int(year), _MONTHS.index(month) + 1, int(day)) if month in _MONTHS else None


def select(questions: Iterable[Question], passages: Mapping[str, Passage]) -> dict[str, list[Question]]:
    """The questions of each split, in a fixed mixed order: sound, unambiguous, and no relation or crowd too frequent."""
    sound = [q for q in questions if q.split is not None and _is_sound(q, passages)]
    kept: dict[str, list[Question]] = {"train": [], "test": []}
    counts: Counter[tuple[str, ...]] = Counter()
    for question in sorted(_unambiguous(sound), key=lambda q: rank("order", q.text)):
        split, relation = question.split or "", question.relation
        whole, crowd = (split, relation), (split, relation, question.crowd)
        if counts[whole] >= MOST_OF_A_RELATION[split]:
            continue
        if question.crowd and counts[crowd] >= MOST_OF_A_CROWD.get(relation, 8):
            continue
        counts.update({whole, crowd})
        kept[split].append(question)
    return kept


def _is_sound(question: Question, passages: Mapping[str, Passage]) -> bool:
    """The last passage (for comparisons: one of them) says an answer, and the question does not give it away."""
    if not question.answers:
        return False
    evidence = question.supporting if question.compares else question.supporting[-1:]
    said = any(mentions(f"{passages[i].title} {passages[i].text}", a) for i in evidence for a in question.answers)
    given_away = not question.compares and any(len(words(a)) > 2 and mentions(question.text, a) for a in question.answers)
    return said and not given_away


def _unambiguous(questions: Iterable[Question]) -> list[Question]:
    """One of each text; none where the same text asks for different things."""
    by_text: dict[str, list[Question]] = {}
    for question in questions:
        by_text.setdefault(words(question.text), []).append(question)
    return [same[0] for same in by_text.values() if len({q.answers for q in same}) == 1]
