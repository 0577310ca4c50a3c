from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from attrs import evolve

from jackfield.errors import UserError
from jackfield.testing.contracts import check_reward
from jackfield.testing.fakes import CharTokenizer
from jackfield.types import Finish, Rollout, Segment, Task, Verdict
from jackfield_verifiers.function import Function
from jackfield_verifiers.source import Source

Write = Callable[[str], Function]
NO_CORRIDOR = cast(Any, None)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A reward of the function ``score`` in a file with this text."""

    def make(text: str) -> Function:
        (tmp_path / "mine.py").write_text(text)
        sys.modules.pop(next((name for name in sys.modules if name.endswith("_mine") and "jackfield_function" in name), ""), None)
        return Function(function=tmp_path / "mine.py:score")

    return make


def judged(reward: Function, text: str = "Paris", **extra: Any) -> Verdict:
    segments = (Segment(tokens=np.arange(1), writer="task", text="Q"), Segment(tokens=np.arange(1), writer="policy", text=text))
    task = Task(id="t", prompt=(), answers=("Paris", "paris"), extra=extra, origin="rows.jsonl:3")
    return asyncio.run(reward.judge(Rollout(task=task, member=0, segments=segments, finish=Finish(reason="eos"))))


@pytest.mark.parametrize(
    ("returned", "verdict"),
    [
        ("0.5", Verdict.score(0.5)),
        ("True", Verdict.score(1.0)),
        ("False", Verdict.score(0.0)),
        ("np.float32(0.25)", Verdict.score(0.25)),
        ("np.bool_(True)", Verdict.score(1.0)),
        ("None", Verdict.abstain("not applicable: the function gave None")),  # R1, R6
        ("{'score': 1, 'fmt': 0}", Verdict.score(1.0, fmt=0.0)),  # R8
        ("{'reward': 1, 'reason': 'so', 'parsed': 7}", Verdict.score(1.0, "so", "7")),  # R8
        ("{'score': None}", Verdict.abstain("not applicable: the function gave None")),
        ("Verdict.error('no network')", Verdict.error("no network")),
    ],
)
def test_what_it_may_return(write: Write, returned: str, verdict: Verdict) -> None:
    """A number, a bool, None, a dict with further numbers, or a verdict."""
    text = f"import numpy as np\nfrom jackfield.types import Verdict\ndef score(completion): return {returned}"
    assert judged(write(text)) == verdict


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("float('nan')", "nan as score"),  # R3
        ("float('inf')", "inf as score"),
        ("{'score': 1, 'fmt': float('nan')}", "nan as fmt"),
        ("'yes'", "'yes' as score"),
        ("[1.0]", "[1.0] as score"),
        ("{'fmt': 1}", "neither score nor reward"),
        ("{'score': 1, 'reward': 0}", "score and reward"),
        ("{'score': 1, 'why': 'x'}", "'x' as why"),
    ],
)
def test_anything_else_is_an_error(write: Write, returned: str, told: str) -> None:
    """R3: it names the function and what it gave, and is no score."""
    verdict = judged(write(f"def score(): return {returned}"))
    assert verdict.kind == "error"
    assert verdict.reason.startswith("mine.py:score gave ")
    assert told in verdict.reason


def test_a_score_out_of_range_is_an_error(write: Write) -> None:
    """R3: where the recipe says how low and how high scores go, one beyond is told with its function, and is no score."""
    reward = evolve(write("def score(completion): return {'score': float(completion), 'fmt': -1}"), low=0.0, high=1.0)
    assert [judged(reward, text).value for text in ("0", "0.5", "1")] == [0.0, 0.5, 1.0]
    assert judged(reward, "-0.5") == Verdict.error("mine.py:score gave -0.5 as score; expected one from 0 to 1")
    assert judged(evolve(reward, low=None), "1.5").reason.endswith("expected one from -inf to 1")
    assert judged(evolve(write("def score(): return None"), low=0.5)).kind == "abstain"
    with pytest.raises(ValueError, match="low: must be below high"):
        evolve(reward, low=1.0)


def test_exceptions(write: Write) -> None:
    """R4: an error that names the function and the line; what the user should mend stops the run."""
    verdict = judged(write("def score():\n    return 1 / 0"))
    assert verdict == Verdict.error("mine.py:score raised ZeroDivisionError: division by zero (mine.py:2)")
    with pytest.raises(UserError, match="no key"):
        judged(write("from jackfield.errors import UserError\ndef score(): raise UserError('no key')"))


def test_arguments_by_name(write: Write) -> None:
    """Only those it has parameters for: what the policy wrote, the gold answers, task, rollout, and the row's own keys."""
    text = "def score(completion, answers, task, rollout, level, other=3):\n"
    text += "    return completion == 'Paris' and answers == ('Paris', 'paris') and task is rollout.task and level + other == 5"
    assert judged(write(text), level=2) == Verdict.score(1.0)
    assert judged(write("def score(**given): return len(given)"), level=2).value == 5
    assert judged(write("def score(): return 1")).value == 1
    message = (
        "rows.jsonl:3: mine.py:score asks for 'solution', and there are only completion, answers, task, rollout and .* keys .level."
    )
    with pytest.raises(UserError, match=message):
        judged(write("def score(completion, solution): return 1"), level=2)


@pytest.mark.parametrize(
    ("parameters", "missing"),
    [
        ("completion, answers, task, rollout, level", None),
        ("completion, solution=None, *args, grade=3, **rest", None),
        ("completion, solution", "solution"),
        ("*, completion, solution", "solution"),
        ("solution, **rest", "solution"),
    ],
)
def test_a_row_without_what_it_asks_for(write: Write, parameters: str, missing: str | None) -> None:
    """Refused before the run, naming the function, the key and what there is; the caller names the row."""
    reward = write(f"def score({parameters}): return 1")
    expected = f"mine.py:score asks for '{missing}', and there are only completion, answers, task, rollout and the row's own keys"
    row = Task(id="t", prompt=(), extra={"level": 2, "why": "x"})
    assert reward.check_task(row, CharTokenizer()) == (missing and f"{expected} (level, why)")
    assert reward.check_task(evolve(row, extra={"solution": "x", "level": 1}), CharTokenizer()) is None


def test_a_function_that_cannot_be_loaded(write: Write) -> None:
    """Told once, as the user's to mend, and not row by row."""
    reward = write("import no_such_module\ndef score(): return 1")
    message = r"mine.py:score cannot be loaded: ModuleNotFoundError: No module named 'no_such_module' \(mine.py:1\)"
    with pytest.raises(UserError, match=message):
        reward.check_task(Task(id="t", prompt=()), CharTokenizer())


def test_async(write: Write) -> None:
    """It may wait for something while others are judged."""
    assert judged(write("import asyncio\nasync def score():\n    await asyncio.sleep(0)\n    return 0.5")).value == 0.5


def test_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module is found as imports find it; the folder that recipes put before its name does not matter."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "a_package_of_mine").mkdir()
    (tmp_path / "a_package_of_mine" / "__init__.py").write_text("")
    (tmp_path / "a_package_of_mine" / "rewards.py").write_text("def score(): return 0.5")
    reward = Function(function=Path("anywhere/a_package_of_mine.rewards:score"))
    assert reward.check_recipe(NO_CORRIDOR) == []
    assert judged(reward).value == 0.5
    assert str(Source("anywhere/a_package_of_mine.rewards:score")) == "a_package_of_mine.rewards:score"


def test_check_runs_nothing(write: Write) -> None:
    """A recipe's check reads the file; it is imported when the rows are checked, and once."""
    reward = write("raise SystemExit\ndef score(): return 1")
    assert reward.check_recipe(NO_CORRIDOR) == []
    for text in ("try:\n    from a import score\nexcept ImportError: ...", "from a import *", "score = len", "class score: ..."):
        assert write(text).check_recipe(NO_CORRIDOR) == []


def test_what_check_finds(write: Write, tmp_path: Path) -> None:
    """A missing file, module or function, and broken syntax, with what to write instead."""

    def problem(function: str) -> str:
        [message] = Function(function=tmp_path / function).check_recipe(NO_CORRIDOR)
        return message

    write("def scores(): return 1")
    file = tmp_path / "mine.py"
    assert problem("mine.py:score") == f"{file} has no 'score'; did you mean 'scores'?"
    assert problem("other.py:score") == f"there is no file {tmp_path / 'other.py'}"
    assert problem("mine:scores") == "there is no module 'mine'; for the file beside the recipe write \"./mine.py:scores\""
    assert problem("no_such_package.mine:score").startswith("there is no module 'no_such_package.mine'")
    assert problem("jackfield.types:Verdikt").endswith("; did you mean 'Verdict'?")
    write("def score(:")
    assert problem("mine.py:score").startswith(f"{file}:1: ")
    with pytest.raises(UserError, match=r"mine\.py:1: "):
        judged(Function(function=tmp_path / "mine.py:score"))


@pytest.mark.parametrize("function", ["score", "mine.py:", ":score", "mine.py:a b"])
def test_bad_names_are_refused(function: str) -> None:
    """They say how to write it."""
    with pytest.raises(ValueError, match=r"function: must be 'package.module:name' or './file.py:name', found"):
        Function(function=Path(function))


def test_contract(write: Write) -> None:
    """Judges anything quickly."""
    check_reward(write("def score(completion, answers):\n    return completion in answers"))


def test_the_file_it_stands_in_is_named_for_the_digest(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, or a module that is nobody's installation; not one of the standard library or an installed package, nor what is missing."""
    assert write("def score(completion): return 1").local_files == (tmp_path / "mine.py",)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_scores.py").write_text("def score(completion): return 1")
    assert Function(function=Path("my_scores:score")).local_files == (tmp_path / "my_scores.py",)
    for name in ("json.decoder:loads", "attrs:define", "math:sqrt", "no_such_module:score"):
        assert Function(function=Path(name)).local_files == ()
