from __future__ import annotations

import pytest

from jackfield.types import Passage
from jackfield_vitalwiki import questions as module
from jackfield_vitalwiki.questions import Question, ask, read_date, select, spell, split_of
from jackfield_vitalwiki.sources import Date

PASSAGES = {
    "p": Passage(id="p", title="Guernica", text="A painting by Pablo Picasso of 1937."),
    "q": Passage(id="q", title="Q", text="?"),
}


def entity(split: str, number: int = 0) -> str:
    """Some name that falls on this side of the split."""
    return [name for n in range(200) if split_of(name := f"thing {n}") == split][number]


def question(text: str = "Who painted it?", answers: tuple[str, ...] = ("Picasso",), **changes: object) -> Question:
    fields = {"relation": "work.creator", "supporting": ("p",), "entities": (entity("train"),)} | changes
    return Question(text=text, answers=answers, **fields)  # type: ignore[arg-type]


def texts(*questions: Question) -> list[str]:
    kept = select(questions, PASSAGES)
    return sorted(q.text for q in kept["train"] + kept["test"])


def test_dates_in_several_spellings() -> None:
    """The passages' own spelling first; ordinals of 11 to 13 are regular."""
    assert spell(Date(1977, 6, 27))[:3] == ("27 June 1977", "June 27, 1977", "1977-06-27")
    assert "1st of May 1900" in spell(Date(1900, 5, 1))
    assert "May 22nd, 1900" in spell(Date(1900, 5, 22))
    assert "12th May 1900" in spell(Date(1900, 5, 12))
    assert read_date("4", "July", "1776") == Date(1776, 7, 4)
    assert read_date("4", "Juillet", "1776") is None


def test_wording_is_drawn_by_relation_and_subject() -> None:
    """The same subject always gets the same wording; a run of subjects gets all of them."""
    asked = [ask("r", ("Who is {}?", "Name {}."), f"subject {n}", ("x",), ["p"], "e").text for n in range(20)]
    assert asked == [ask("r", ("Who is {}?", "Name {}."), f"subject {n}", ("x",), ["p"], "e").text for n in range(20)]
    assert {text.split()[0] for text in asked} == {"Who", "Name"}


def test_an_answer_must_stand_in_the_last_passage() -> None:
    """Alias or gold, in title or text; a question whose passage does not say it, or without answers, is dropped."""
    assert texts(question(answers=("Pablo Ruiz", "Picasso"))) == ["Who painted it?"]
    assert texts(question(answers=("Monet",))) == []
    assert texts(question(answers=())) == []
    assert texts(question(supporting=("p", "q"))) == []
    assert texts(question(supporting=("p", "q"), relation="compare.birth")) == ["Who painted it?"]


def test_a_question_must_not_give_its_answer_away() -> None:
    """Unless it asks which of two."""
    assert texts(question("Who painted Picasso's Guernica?")) == []
    assert texts(question("Who was first, Picasso or Monet?", relation="compare.birth")) == ["Who was first, Picasso or Monet?"]


def test_ambiguous_questions_are_dropped_and_doubles_kept_once() -> None:
    """One text with two different answers is nobody's question."""
    assert texts(question(), question()) == ["Who painted it?"]
    assert texts(question(), question(answers=("Pablo Picasso",))) == []


def test_questions_across_the_split_are_dropped() -> None:
    """A comparison of a train entity with a test entity would show a test fact in training."""
    both = question(entities=(entity("train"), entity("test")))
    assert both.split is None
    assert texts(both) == []
    kept = select([question("A?"), question("B?", entities=(entity("test"),))], PASSAGES)
    assert [q.text for q in kept["train"]] == ["A?"]
    assert [q.text for q in kept["test"]] == ["B?"]


def test_no_relation_and_no_crowd_is_too_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight of a crowd, and as many of a relation as its split allows; which ones does not depend on the order they come in."""
    crowd = [question(f"Crowd {n}?", crowd="china") for n in range(20)]
    assert len(texts(*crowd)) == 8
    assert texts(*crowd) == texts(*reversed(crowd))
    monkeypatch.setattr(module, "MOST_OF_A_RELATION", {"train": 5, "test": 5})
    assert len(texts(*(question(f"Number {n}?") for n in range(20)))) == 5


def test_the_split_takes_about_a_quarter() -> None:
    """25 per cent of the entities are held out."""
    assert 0.22 < sum(split_of(f"entity {n}") == "test" for n in range(4000)) / 4000 < 0.28
