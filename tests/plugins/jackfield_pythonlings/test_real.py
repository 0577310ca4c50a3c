"""What the pinned package really gives. Needs it in the cache or a registry to download 0.4 MB from."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from jackfield.packages import fetch
from jackfield_pythonlings.data import Pythonlings
from jackfield_pythonlings.exercises import REQUIREMENT, SHA256, Exercise, defined, read

pytestmark = pytest.mark.real

RUNNER = """
import json, os, signal, sys
passed = {}
for name, (program, tests) in json.load(sys.stdin).items():
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="ascii")
        module = {"__name__": "program"}
        try:
            exec(compile(program, "program", "exec"), module)
            exec(compile(tests, "tests", "exec"), module)
        except BaseException:
            os._exit(1)
        os._exit(0)
    passed[name] = os.waitpid(child, 0)[1] == 0
print(json.dumps(passed))
"""
"""Runs every program and then its tests in the program's module, each in a process of its own, with ASCII output."""


@pytest.fixture(scope="module")
def exercises() -> list[Exercise]:
    return read(fetch(REQUIREMENT, SHA256))


def run(programs: dict[str, tuple[str, str]], folder: Path) -> dict[str, bool]:
    ran = subprocess.run(
        [sys.executable, "-c", RUNNER], input=json.dumps(programs), capture_output=True, text=True, cwd=folder, check=True
    )
    passed: dict[str, bool] = json.loads(ran.stdout)
    return passed


def test_counts(exercises: list[Exercise]) -> None:
    """264 of 292 fit, in 30 chapters; what the documentation says of the split."""
    assert len(exercises) == 264
    assert len({exercise.topic for exercise in exercises}) == 30
    assert [len(Pythonlings().tasks(split)) for split in ("train", "test")] == [218, 46]


def test_solutions_pass_and_gaps_fail(exercises: list[Exercise], tmp_path: Path) -> None:
    """The package's own solution of every exercise passes its tests; neither the program with its gaps nor an empty one does."""
    assert all(run({e.name: (e.solution, e.tests) for e in exercises}, tmp_path).values())
    assert not any(run({e.name: (e.start, e.tests) for e in exercises}, tmp_path).values())
    assert not any(run({e.name: ("", e.tests) for e in exercises}, tmp_path).values())


def test_every_exercise_can_be_read(exercises: list[Exercise]) -> None:
    """Each says what to do and asserts something."""
    assert min(len(exercise.statement) for exercise in exercises) > 20
    assert all("assert" in exercise.tests and "✓" not in exercise.tests for exercise in exercises)
    assert all("I AM NOT DONE" not in exercise.statement + exercise.start for exercise in exercises)


def test_no_name_is_asked_for_on_both_sides(exercises: list[Exercise]) -> None:
    """`double`, `greet`, `is_palindrome` … are defined by several exercises."""
    names = {exercise.name: defined(exercise) for exercise in exercises}
    train, test = (
        {name for task in Pythonlings().tasks(split) for name in names[task.id.partition("-")[2]]} for split in ("train", "test")
    )
    assert not train & test
    assert Counter(name for own in names.values() for name in own)["greet"] > 1
