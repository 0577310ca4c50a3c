from __future__ import annotations

import time

import numpy as np
import pytest

from jackfield.answers import last_answer, last_box, last_boxed, unboxed
from jackfield.types import Finish, Rollout, Segment, Task


def wrote(*turns: str) -> Rollout:
    segments = tuple(Segment(tokens=np.arange(1), writer="policy", text=text) for text in turns)
    return Rollout(task=Task(id="t", prompt=()), member=0, segments=segments, finish=Finish(reason="eos"))


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        ("<answer>Paris</answer>", "Paris"),
        ("<answer>Lyon</answer> no, <answer> Paris\n</answer> so", "Paris"),
        ("<answer>Paris</answer> <answer>Lyon", "Paris"),
        ("<answer>a <answer>Paris</answer>", "Paris"),
        ("<answer>Paris</answer></answer>", "Paris"),
        ("Paris</answer>", None),
        ("<answer>Paris", None),
        ("Paris", None),
        ("<answer></answer>", ""),
        ("<ANSWER>Paris</ANSWER>", None),
        ("<answer>\\boxed{42}</answer>", "42"),
        ("<answer>It is $\\boxed{\\frac{1}{2}}$.</answer>", "\\frac{1}{2}"),
    ],
)
def test_last_complete_answer(completion: str, expected: str | None) -> None:
    """X1, X6: one pair of tags is enough, the last complete one counts, a box is unwrapped, and no answer is None."""
    assert last_answer(wrote(completion), "answer") == expected


def test_turns() -> None:
    """The last turn with an answer counts; tags of two turns make no answer, as the environment saw none."""
    assert last_answer(wrote("<answer>Lyon</answer>", "<answer>Paris</answer>", "so"), "answer") == "Paris"
    assert last_answer(wrote("<answer>Par", "is</answer>"), "answer") is None


def test_no_tag_means_everything() -> None:
    """With an empty tag the whole completion is the answer."""
    assert last_answer(wrote("  Paris \n"), "") == "Paris"
    assert last_answer(wrote("so \\boxed{1}, no, \\boxed{2}"), "") == "2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("\\boxed{42", "\\boxed{42"), ("\\boxed{}", ""), ("}{", "}{"), ("\\boxed{a}}", "a"), ("\\boxed{{a}b}", "{a}b")],
)
def test_boxes(text: str, expected: str) -> None:
    """Braces are matched; a box that never closes is left as it stands."""
    assert unboxed(text) == expected


def test_boxes_of_turns() -> None:
    """The last box that closes within a turn, whatever tags are around it."""
    assert last_boxed(wrote("\\boxed{1}", "<answer>2</answer> \\boxed{3}", "so")) == "3"
    assert last_boxed(wrote("\\boxed{1", "}")) is None
    assert last_box("\\boxed{{}") is None


@pytest.mark.parametrize("piece", ["<answer>", "</answer>", "<answer></answer>", "\\boxed{", "{", "<"])
def test_is_linear(piece: str) -> None:
    """S10: 100,000 degenerate characters are read at once."""
    text = piece * (100_000 // len(piece))
    start = time.process_time()
    last_answer(wrote(text), "answer")
    last_answer(wrote(text), "")
    assert time.process_time() - start < 2
