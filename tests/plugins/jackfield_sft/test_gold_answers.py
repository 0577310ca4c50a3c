from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pytest
from attrs import evolve, frozen

from jackfield.errors import DataError
from jackfield.types import Message, Task
from jackfield_sft.gold_answers import GoldAnswers

ROW = Task(
    id="q/1",
    prompt=(Message(role="user", content="Capital of Peru?"),),
    answers=("Lima", "Ciudad de los Reyes"),
    recorded=(("<search> Peru </search>", "<answer> Lima </answer>"),),
    labels={"hops": "1"},
    origin="train.jsonl:1",
)


@frozen
class Rows:
    """Data of given rows."""

    rows: tuple[Task, ...]

    def tasks(self, split: Literal["train", "test"]) -> Sequence[Task]:
        return self.rows if split == "train" else ()


def test_the_first_answer_is_the_one_attempt() -> None:
    """What the data recorded is dropped; all else of the row is kept, and the splits are the data's."""
    data = GoldAnswers(of=Rows((ROW,)), template="<answer> {answer} </answer>")
    assert data.tasks("train") == [evolve(ROW, recorded=(("<answer> Lima </answer>",),))]
    assert data.tasks("test") == []


def test_a_blank_answer_is_none() -> None:
    """It would teach to end at once."""
    row = evolve(ROW, answers=("", " ", "Lima"))
    assert GoldAnswers(of=Rows((row,))).tasks("train")[0].recorded == (("Lima",),)


def test_braces_are_text() -> None:
    """Answers and template may hold any other braces."""
    row = evolve(ROW, answers=("{0}",))
    assert GoldAnswers(of=Rows((row,)), template="\\boxed{{answer}}").tasks("train")[0].recorded == (("\\boxed{{0}}",),)


def test_rows_without_answer_are_listed() -> None:
    """All at once, each with its place."""
    bad = tuple(evolve(ROW, id=f"q/{n}", answers=("  ",) * (n - 2), origin=f"train.jsonl:{n}") for n in (2, 3))
    with pytest.raises(DataError) as caught:
        GoldAnswers(of=Rows((ROW, *bad))).tasks("train")
    assert [str(problem) for problem in caught.value.problems] == [
        f"train.jsonl:{n}: task q/{n}: has no gold answer to learn" for n in (2, 3)
    ]


def test_the_template_holds_the_answer() -> None:
    """One that does not would teach the same text for every question."""
    with pytest.raises(ValueError, match=r"template: lacks \{answer\}"):
        GoldAnswers(of=Rows(()), template="answer")
