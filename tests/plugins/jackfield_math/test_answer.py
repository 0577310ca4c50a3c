from __future__ import annotations

import numpy as np
import pytest

from jackfield.types import Finish, Rollout, Segment, Task, Writer
from jackfield_math.answer import final_answer, last_box


def rollout(*texts: tuple[Writer, str]) -> Rollout:
    segments = tuple(Segment(tokens=np.arange(1), writer=writer, text=text) for writer, text in texts)
    return Rollout(task=Task(id="t", prompt=()), member=0, segments=segments, finish=Finish(reason="eos"))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<answer>42</answer>", "42"),
        ("<answer>1</answer> no, <answer> 42 </answer> I think", "42"),
        ("<answer>\\boxed{42}</answer>", "42"),
        ("so \\boxed{1}, no, \\boxed{\\frac{1}{2}}.", "\\frac{1}{2}"),
        ("\\boxed{1} <answer>2</answer>", "2"),
        ("<answer></answer>", ""),
        ("<answer>42", None),
        ("the answer is 42", None),
        ("\\boxed{42", None),
    ],
)
def test_final_answer(text: str, answer: str | None) -> None:
    """X1, X6: the last complete tag, else the last box that closes; a number that merely stands there is none."""
    assert final_answer(rollout(("policy", text)), "answer") == answer


def test_only_what_the_policy_wrote() -> None:
    """X3: neither the prompt's example nor an observation is the answer, and no tag spans two turns."""
    played = rollout(
        ("task", "<answer>1</answer>"), ("policy", "<answer>2"), ("environment", "\\boxed{3}"), ("policy", "</answer>")
    )
    assert final_answer(played, "answer") is None


def test_box_only() -> None:
    """Without a tag only boxes count; the last turn's."""
    played = rollout(("policy", "\\boxed{1}"), ("policy", "<answer>2</answer> \\boxed{3}"))
    assert final_answer(played, "") == "3"
    assert last_box("\\boxed{{}") is None
