from __future__ import annotations

import time

import numpy as np
import pytest

from jackfield.types import Finish, Rollout, Segment, Task, Writer
from jackfield_code.program import written_program


def rollout(*texts: tuple[Writer, str]) -> Rollout:
    segments = tuple(Segment(tokens=np.arange(1), writer=writer, text=text) for writer, text in texts)
    return Rollout(task=Task(id="t", prompt=()), member=0, segments=segments, finish=Finish(reason="eos"))


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("So:\n```python\nx = 1\n```\nDone.", "x = 1\n"),
        ("```python\nx = 1\n```\nbetter:\n```py\nx = 2\n```", "x = 2\n"),
        ("```\nx = 1\n```", "x = 1\n"),
        ("```python\nx = 1\n```\nprints\n```text\n1\n```", "x = 1\n"),
        ("```python\r\nx = 1\r\n```", "x = 1\n"),
        ("```python\nx = 0\n```<answer>```python\nx = 1\n```</answer>", "x = 1\n"),
        ("```python\nx = 0\n\n```python\nx = 1\n```", "x = 1\n"),
        ("```python\nx = 0\n```\n<answer>\n```python\nx = 1\n```\n</answer>", "x = 1\n"),
        ("<answer>\nx = 1\n</answer>", "x = 1"),
        ("```python\nx = 1", None),
        ("x = 1", None),
        ("", None),
    ],
)
def test_program(text: str, program: str | None) -> None:
    """The last closed Python block; an answer, where there is one, goes before the rest of the turn."""
    assert written_program(rollout(("policy", text))) == program


def test_only_what_the_policy_wrote() -> None:
    """X3: the prompt's example is no program; the last turn that holds one counts."""
    block = "```python\n{}\n```\n"
    assert (
        written_program(rollout(("task", block.format("x = 1")), ("policy", "hm"), ("environment", block.format("x = 2")))) is None
    )
    played = rollout(
        ("policy", block.format("x = 1")), ("environment", "failed"), ("policy", block.format("x = 2")), ("policy", "done")
    )
    assert written_program(played) == "x = 2\n"


@pytest.mark.parametrize("piece", ["```\n", "```python\n", "`", "<answer>", "a\n", "a", " ", "``` x"])
def test_is_quick(piece: str) -> None:
    """S10: 100,000 degenerate characters are read at once."""
    start = time.process_time()
    written_program(rollout(("policy", piece * (100_000 // len(piece)))))
    written_program(rollout(("policy", "```" + piece * (100_000 // len(piece)) + "`")))
    assert time.process_time() - start < 5
