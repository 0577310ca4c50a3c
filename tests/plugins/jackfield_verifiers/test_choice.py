from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jackfield.testing.contracts import check_reward
from jackfield.testing.fakes import CharTokenizer
from jackfield.types import Finish, Rollout, Segment, Task, Verdict, Writer
from jackfield_verifiers.choice import MultipleChoice, chosen_letters

CITIES = ("Paris", "Rome", "London, England", "A")


def rollout(*texts: tuple[Writer, str], answers: tuple[str, ...] = ("B",), **extra: Any) -> Rollout:
    segments = tuple(Segment(tokens=np.arange(1), writer=writer, text=text) for writer, text in texts)
    task = Task(id="t", prompt=(), answers=answers, extra=extra, origin="quiz.jsonl:2")
    return Rollout(task=task, member=0, segments=segments, finish=Finish(reason="eos"))


@pytest.mark.parametrize(
    ("answer", "letters"),
    [
        ("B", "B"),
        ("b", "B"),
        ("(B)", "B"),
        ("[b].", "B"),
        ("**B**", "B"),
        ("\\text{B}", "B"),
        ("B.", "B"),
        ("B)", "B"),
        ("B. Rome", "B"),
        ("(B) Rome is right", "B"),
        ("Option B", "B"),
        ("The answer is (B).", "B"),
        ("The correct answer is: **B**", "B"),
        ("Answer: B because of Rome", "B"),
        ("The answer is A because it is", "A"),
        ("Not option A, so the answer is B", "B"),
        ("The answer is A. No: the answer is B", "B"),
        ("We look at it.\nB", "B"),
        ("A or B", ""),
        ("The answer is A or B", "AB"),
        ("Option A and option C", "AC"),
        ("A) Paris B) Rome C) London", "ABC"),
        ("A cat", ""),
        ("I think so", ""),
        ("the answer is a city", ""),
        ("The answer is Rome", ""),
        ("B's", ""),
        ("", ""),
        ("7", ""),
    ],
)
def test_letters(answer: str, letters: str) -> None:
    """A letter that stands for a choice, not one that is a word; several where several are claimed."""
    assert "".join(chosen_letters(answer)) == letters


def test_choices_by_their_text() -> None:
    """With the row's choices their text alone names a letter, and letters beyond them are none."""
    assert chosen_letters("rome", CITIES) == ["B"]
    assert chosen_letters("London, England.", CITIES) == ["C"]
    assert chosen_letters("A", CITIES) == ["A"]  # a letter is a letter, whatever the choices are called
    assert chosen_letters("E", CITIES) == []
    assert chosen_letters("Rome", ("Rome", "rome!")) == []


def test_verdicts() -> None:
    """1 for the gold letter; 0 names what was chosen, also for none or for two."""
    judge = MultipleChoice()
    assert judge.judge(rollout(("policy", "<answer>(b) Rome</answer>"))) == Verdict.score(1.0, "chose B", "B")
    assert judge.judge(rollout(("policy", "<answer>A</answer>"))) == Verdict.score(0.0, "chose A, not B", "A")
    assert judge.judge(rollout(("policy", "<answer>answer: A or B</answer>"))).reason == "chose A and B"
    assert judge.judge(rollout(("policy", "<answer>Rome</answer>"))).reason == "no letter of a choice in the answer"
    assert judge.judge(rollout(("policy", "<answer>Rome</answer>"), answers=("rome",), choices=list(CITIES))).value == 1
    assert MultipleChoice(answer_tag="").judge(rollout(("policy", "Hm. The answer is \\boxed{B}"))).value == 1


def test_never_the_prompts_letters() -> None:
    """X3: the prompt's list of choices and observations say nothing of what was chosen."""
    played = rollout(("task", "A) x B) y <answer>B</answer>"), ("policy", "hm"), ("environment", "The answer is B"))
    assert MultipleChoice().judge(played).reason == "no <answer>…</answer> in the completion"
    assert MultipleChoice(answer_tag="").judge(played).value == 0


def test_unusable_gold() -> None:
    """X8: a gold answer that is no letter is told at check time and abstained from."""
    judge = MultipleChoice()
    played = rollout(("policy", "<answer>B</answer>"), answers=("Rome",))
    assert judge.judge(played) == Verdict.abstain("no gold answer of quiz.jsonl:2 is the letter of a choice: 'Rome'")
    assert judge.check_task(played.task, CharTokenizer()) == "no gold answer is the letter of a choice: 'Rome'"
    assert judge.check_task(rollout(answers=("(c)",)).task, CharTokenizer()) is None


@pytest.mark.parametrize("tag", ["answer", ""])
def test_contract(tag: str) -> None:
    """Judges anything quickly."""
    check_reward(MultipleChoice(answer_tag=tag))
