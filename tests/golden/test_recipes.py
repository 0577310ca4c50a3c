"""Twenty steps of every recipe in small, number by number: what changes no computation changes none of these.

A file of ``recipes/`` beside this one says first what it was made with (same versions and arithmetic give the same numbers, to the last bit),
then every metric of every step, and of every evaluation; where they are all alike, once. Times, speeds and memory are left out. Where a change
is meant to change numbers, make the files anew and look at what ``git diff`` says::

    python -m pytest tests/golden -n 2 --golden-write
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jackfield.machine import cpu_flags

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).with_name("recipes")
AGAIN = "python -m pytest tests/golden -n 2 --golden-write"
SHOWN = 12
RECIPES = sorted(
    path
    for path in (ROOT / "recipes").glob("*.toml")
    if "search_r1_qwen" not in path.name and "cells" not in tomllib.loads(path.read_text(encoding="utf-8"))
)
"""All but the full-size ones, which are the small ones' corridors, and grids, which are lists of others."""
Series = dict[str, list[Any]]


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_numbers_are_those_of_before(path: Path, write: bool, taker: Taker, tmp_path: Path) -> None:
    """Exactly, where versions are those that the file was made with, and arithmetic comes out alike."""
    golden = GOLDEN / f"{path.stem}.jsonl"
    if not write:
        assert golden.exists(), f"no golden file of {path.name}: make it with {AGAIN}"
        there, was = read(golden)
        if there != taker.made_with:
            pytest.skip(f"made with {there}, here is {taker.made_with}; to make them here: {AGAIN}")
    now = taker.take(path, tmp_path)
    if write:
        write_file(golden, taker.made_with, now)
        return
    found = list(differences(was, now))
    more = [f"… and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    assert not found, "\n".join([f"{path.stem}, if that is meant: {AGAIN}", *found[:SHOWN], *more])


def test_every_file_has_its_recipe() -> None:
    """None is left of a recipe that is gone."""
    assert {file.stem for file in GOLDEN.glob("*")} <= {path.stem for path in RECIPES}


def test_a_difference_is_told_in_words() -> None:
    """Metric, step, what was and what is; also what is new and what is gone; nothing of numbers that are alike."""
    was: Series = {"loss": [0.5, 0.25], "alike": [1.0, 2.0], "gone": [1.0, None]}
    now: Series = {"loss": [0.5, 0.125], "alike": [1.0, 2.0], "new": [None, 3.0]}
    assert list(differences(was, now)) == [
        "gone, step 1: was 1.0, is nothing",
        "loss, step 2: was 0.25, is 0.125",
        "new, step 2: was nothing, is 3.0",
    ]
    evaluated = list(differences({"evaluation/dpo": [1.0, 2.0]}, {"evaluation/dpo": [1.0, 2.5]}))
    assert evaluated == ["evaluation/dpo, evaluation 2: was 2.0, is 2.5"]


def test_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Numbers to nine digits, which tell float32 values apart; a constant once."""
    given: Series = {"loss": [1 / 3, 2 / 3], "same": [0.1, 0.1], "ids": ["ab", "cd"], "late": [None, 1.0]}
    write_file(tmp_path / "x.jsonl", {"torch": "2"}, given)
    header, found = read(tmp_path / "x.jsonl")
    assert header == {"torch": "2"}
    assert found == {"loss": [0.333333333, 0.666666667], "same": [0.1, 0.1], "ids": ["ab", "cd"], "late": [None, 1.0]}
    assert '"same", "all": 0.1' in (tmp_path / "x.jsonl").read_text()
    assert not list(differences(found, {name: rounded(values) for name, values in given.items()}))


# ------------------------------------------------------------------------------------------------------------- the runs


class Taker:
    """The process that takes the steps: ``steps.py`` beside this file, started once for all recipes."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", str(Path(__file__).with_name("steps.py"))],
            env={name: value for name, value in os.environ.items() if name != "NPY_DISABLE_CPU_FEATURES"} | alike(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self.made_with = self._answer()

    def take(self, path: Path, folder: Path) -> Series:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"path": str(path), "folder": str(folder)}) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        if "failed" in answer:
            pytest.fail(answer["failed"], pytrace=False)
        return {name: rounded(values) for name, values in answer["series"].items()}

    def close(self) -> None:
        self._process.communicate()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"steps.py ended with {self._process.wait()}"
        answer: dict[str, Any] = json.loads(line)
        return answer


@pytest.fixture(scope="session")
def taker() -> Iterator[Taker]:
    taker = Taker()
    yield taker
    taker.close()


def alike() -> dict[str, str]:
    """What makes every x86-64 processor of the last ten years round alike; libraries read it when they are loaded, or first used."""
    return {
        # torch's kernels are there once for each width of registers, and sum in another order in each. Not "default", which is for
        # processors without AVX2: it takes exp, tanh and the like from the system's libm, which changes from release to release.
        "ATEN_CPU_CAPABILITY": "avx2" if {"avx2", "fma"} <= cpu_flags() else "default",
        # MKL has a way of its own for each generation, and for each maker, in products and in functions of whole tensors.
        "MKL_CBWR": "COMPATIBLE",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        # None but those that numpy cannot do without: its exp and the like differ with the width of registers, too.
        "NPY_ENABLE_CPU_FEATURES": " ",
        "OMP_NUM_THREADS": "1",
    }


# -------------------------------------------------------------------------------------------------------------- a file


def write_file(file: Path, header: dict[str, Any], found: Series) -> None:
    file.parent.mkdir(exist_ok=True)
    lines = [json.dumps(header)]
    for name, values in found.items():
        alike = len(values) > 1 and all(value == values[0] for value in values)
        told = {"all": rounded(values)[0], "count": len(values)} if alike else {"each": rounded(values)}
        lines.append(json.dumps({"metric": name} | told))
    file.write_text("\n".join(lines) + "\n")


def read(file: Path) -> tuple[dict[str, Any], Series]:
    header, *lines = map(json.loads, file.read_text().splitlines())
    return header, {line["metric"]: line["each"] if "each" in line else [line["all"]] * line["count"] for line in lines}


def differences(was: Series, now: Series) -> Iterator[str]:
    """In words, one a number."""
    for name in sorted(was.keys() | now.keys()):
        before, after = was.get(name, []), now.get(name, [])
        what = "evaluation" if name.startswith("evaluation/") else "step"
        for index in range(max(len(before), len(after))):
            one, other = (values[index] if index < len(values) else None for values in (before, after))
            if one != other:
                yield f"{name}, {what} {index + 1}: was {_told(one)}, is {_told(other)}"


def _told(value: Any) -> str:
    return "nothing" if value is None else str(value)


def rounded(values: list[Any]) -> list[Any]:
    return [float(f"{value:.9g}") if isinstance(value, float) else value for value in values]
