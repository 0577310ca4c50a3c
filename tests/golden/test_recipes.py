"""Twenty steps of every recipe in small, number by number: what changes no computation changes none of these.

A file of ``recipes/`` beside this one says first what it was made with (same versions and arithmetic give the same numbers, to the last bit),
then every metric of every step, and of every evaluation; where they are all alike, once. Times, speeds and memory are left out. Where a change
is meant to change numbers, make the files anew and look at what ``git diff`` says::

    python -m pytest tests/golden -n 2 --golden-write
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from jackfield import chain, hookimpl
from jackfield.plugins import Source, load_plugins
from jackfield.recipe import load_recipe
from jackfield.report import StepReport
from jackfield.run import run

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).with_name("recipes")
AGAIN = "python -m pytest tests/golden -n 2 --golden-write"
STEPS = 20
SHOWN = 12
RECIPES = sorted(
    path
    for path in (ROOT / "recipes").glob("*.toml")
    if "search_r1_qwen" not in path.name and "cells" not in tomllib.loads(path.read_text(encoding="utf-8"))
)
"""All but the full-size ones, which are the small ones' corridors, and grids, which are lists of others."""
MEASURED = ("speed", "share", "memory")
"""First part of the names of what no two runs have alike."""
IDS = "ids of all rollouts"

Series = dict[str, list[Any]]


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_numbers_are_those_of_before(path: Path, write: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly, where this machine computes as the one did that the file was made on."""
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path / "cache"))
    torch.set_num_threads(1)
    golden, here = GOLDEN / f"{path.stem}.jsonl", made_with()
    if not write:
        assert golden.exists(), f"no golden file of {path.name}: make it with {AGAIN}"
        there, was = read(golden)
        if there != here:
            pytest.skip(f"made with {there}, here is {here}; to make them here: {AGAIN}")
    now = series(taken(path, tmp_path))
    if write:
        write_file(golden, here, now)
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
    given: Series = {"loss": [1 / 3, 2 / 3], "same": [0.1, 0.1], IDS: ["ab", "cd"], "late": [None, 1.0]}
    write_file(tmp_path / "x.jsonl", {"torch": "2"}, given)
    header, found = read(tmp_path / "x.jsonl")
    assert header == {"torch": "2"}
    assert found == {"loss": [0.333333333, 0.666666667], "same": [0.1, 0.1], IDS: ["ab", "cd"], "late": [None, 1.0]}
    assert '"same", "all": 0.1' in (tmp_path / "x.jsonl").read_text()
    assert not list(differences(found, {name: rounded(values) for name, values in given.items()}))


# -------------------------------------------------------------------------------------------------------------- a run


def taken(path: Path, folder: Path) -> list[StepReport]:
    """The reports of a run in small, after what the recipe is chained from. Recipes without training take no steps here either."""
    reports: list[StepReport] = []

    class Watch:
        @hookimpl
        def jackfield_step_end(self, report: StepReport) -> None:
            reports.append(report)

    plugins = load_plugins(environ={})
    trains = load_recipe(path, plugins).corridor.run.steps > 0
    plugins.add(Source(name="watch", value="watch"), Watch)
    overrides = ['model.compute="float32"', "trackers=[]", *([f"steps={STEPS}"] if trains else [])]
    recipe = load_recipe(path, plugins, overrides, smoke=True)
    ready = chain.ready(recipe, plugins, folder / "runs", lambda _: None)
    reports.clear()
    run(ready, plugins, folder / "run")
    assert [report.step for report in reports if report.kind == "step"] == [*range(1, STEPS * trains + 1)]
    return reports


def series(reports: list[StepReport]) -> Series:
    """Metric → one number a step, or an evaluation."""
    found: Series = {}
    for kind in ("step", "evaluation"):
        lines = [{**report.metrics, _named(kind, IDS): ids(report)} for report in reports if report.kind == kind]
        for name in sorted({name for line in lines for name in line}):
            if name.partition("/")[0] not in MEASURED:
                found[name] = rounded([line.get(name) for line in lines])
    return found


def ids(report: StepReport) -> str:
    """A digest of every token that anybody wrote, rollout by rollout."""
    digest = hashlib.sha256()
    for rollout in (rollout for group in report.groups for rollout in group):
        digest.update(np.append(rollout.tokens, -1).astype("<i8").tobytes())
    return digest.hexdigest()[:16]


def _named(kind: str, name: str) -> str:
    return name if kind == "step" else f"evaluation/{name}"


def rounded(values: list[Any]) -> list[Any]:
    return [float(f"{value:.9g}") if isinstance(value, float) else value for value in values]


def made_with() -> dict[str, Any]:
    """What decides about the last bit: versions, and what products and functions of this machine come to."""
    draw = torch.Generator().manual_seed(0)
    x, w = (torch.randn(*shape, generator=draw).requires_grad_() for shape in ((97, 64), (64, 259)))
    heads = (x @ w[:, :192]).view(1, 97, 3, 4, 16).unbind(2)
    attended = torch.nn.functional.scaled_dot_product_attention(*(h.transpose(1, 2) for h in heads), is_causal=True)
    loss = (torch.nn.functional.silu(x @ w).log_softmax(-1).exp().sum(0) * w.sum(0).tanh()).mean() + attended.sum()
    loss.backward()
    assert x.grad is not None
    assert w.grad is not None
    arithmetic = hashlib.sha256(b"".join(t.detach().numpy().tobytes() for t in (loss, x.grad, w.grad))).hexdigest()[:8]
    return {
        "torch": torch.__version__,
        "transformers": importlib.metadata.version("transformers"),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "arithmetic": arithmetic,
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
