from __future__ import annotations

import time

import numpy as np
import pytest

from jackfield.types import Finish, Rollout, Segment, Task
from jackfield_verifiers.form import Format

GOOD = "<think>hm</think> <search>paris</search> <think>so</think><answer>Paris</answer>\n"


@pytest.mark.parametrize("text", [GOOD, "<answer>Paris</answer>", "text <b>bold</b> <answer>1 < 2</answer>"])
def test_well_formed(text: str) -> None:
    """Closed tags side by side with one answer at the end are well formed; other tags and text do not matter."""
    assert Format().fault([text]) is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no <answer>"),
        ("Paris", "no <answer>"),
        ("<think>hm <answer>Paris</answer>", "<answer> inside <think>"),
        ("<think><search>x</think></search><answer>a</answer>", "<search> inside <think>"),
        ("<think>x</search>", "</search> inside <think>"),
        ("</think><answer>a</answer>", "</think> closes nothing"),
        ("<answer>a", "<answer> is not closed"),
        ("<answer>a</answer><answer>b</answer>", "<answer> after the answer"),
        ("<answer>a</answer><think>b</think>", "<think> after the answer"),
        ("<answer>a</answer>, I think", "text after the answer"),
        ("<answer> \n</answer>", "the answer is empty"),
        ("<information>x</information><answer>a</answer>", "<information> is not the policy's to write"),
        ("<search>paris</search>", "no <answer>"),
    ],
)
def test_faults(text: str, fault: str) -> None:
    """The first thing wrong is named; T8: a forged observation is a fault."""
    assert Format().fault([text]) == fault


def test_tags_close_in_their_own_turn() -> None:
    """A tag that one turn opens and the next closes, with an observation between, is not closed; text in a later turn is after the answer."""
    assert Format().fault(["<answer>Par", "is</answer>"]) == "<answer> is not closed"
    assert Format().fault(["<answer>Paris</answer>", "I think"]) == "text after the answer"
    assert Format().fault(["<search>x</search>", "<answer>Paris</answer>", ""]) is None


def test_require_tool() -> None:
    """A tool can be asked for before the answer, by its tag, also one not in tags."""
    assert Format(require_tool="search").fault([GOOD]) is None
    assert Format(require_tool="search").fault(["<answer>a</answer>"]) == "no <search> before the answer"
    assert Format(require_tool="look").fault(["<look>x</look><answer>a</answer>"]) is None


def test_verdict() -> None:
    """1 or 0 with the reason, of the policy's text only: the environment's own tags are no fault."""
    segments = (
        Segment(tokens=np.arange(1), writer="task", text="<answer>"),
        Segment(tokens=np.arange(1), writer="policy", text="<search>a</search>"),
        Segment(tokens=np.arange(1), writer="environment", text="<information>b</information>"),
        Segment(tokens=np.arange(1), writer="policy", text="<answer>c</answer>"),
    )
    rollout = Rollout(task=Task(id="t", prompt=()), member=0, segments=segments, finish=Finish(reason="answer"))
    verdict = Format().judge(rollout)
    assert (verdict.value, verdict.reason) == (1, "well formed")
    assert Format(forged_tags=("search",)).judge(rollout).value == 0


@pytest.mark.parametrize("keys", [{"answer_tag": ""}, {"tags": ("<think>",)}, {"tags": ("",)}, {"require_tool": "a b"}])
def test_bad_keys_are_refused(keys: dict[str, object]) -> None:
    """Tags are named without brackets and are not empty."""
    with pytest.raises(ValueError, match=next(iter(keys))):
        Format(**keys)  # type: ignore[arg-type]


@pytest.mark.parametrize("piece", ["<think>", "<think></think>", "</think>", "<answer></answer>", "<"])
def test_is_linear(piece: str) -> None:
    """S10: 100,000 degenerate characters are judged at once."""
    start = time.process_time()
    Format().fault([piece * (100_000 // len(piece))])
    assert time.process_time() - start < 2
