from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jackfield.plugins import load_plugins
from jackfield.recipe import load_recipe


@pytest.fixture
def grpo_step(script: Callable[[str], ModuleType]) -> Any:
    return script("grpo_step")


def told(steps: list[float], peak: float) -> dict[str, Any]:
    return {"step_s": steps, "generate_s": [step / 2 for step in steps], "tokens": 64, "peak_gib": peak}


def test_the_first_step_is_not_counted_unless_it_is_the_only_one(grpo_step: Any) -> None:
    assert grpo_step.typical({"step_s": [99, 3, 1, 2]}) == 2
    assert grpo_step.typical({"step_s": [99]}) == 99


def test_ratios_are_of_pairs(grpo_step: Any) -> None:
    """The second repeat met a machine half as fast: both sides took twice as long, and the ratio is the same."""
    pairs = [{"jackfield": told([9, 2], 3), "trl": told([9, 10], 6)}, {"jackfield": told([9, 4], 3), "trl": told([9, 20], 4)}]
    found = grpo_step.summary(pairs)
    assert found["jackfield"] == {"step_s": 3, "generate_s": 1.5, "tokens": 64, "peak_gib": 3}
    assert found["times_as_fast"] == [5, 5, 5]
    assert found["generates_times_as_fast"] == [5, 5, 5]
    assert found["part_of_the_memory"] == [0.625, 0.5, 0.75]


def test_prompts_differ_and_filler_makes_them_longer(grpo_step: Any, tmp_path: Path) -> None:
    for filler in (0, 2):
        grpo_step.write_rows(tmp_path / f"{filler}.jsonl", filler)
    short, long = ([json.loads(line)["prompt"] for line in (tmp_path / f"{n}.jsonl").read_text().splitlines()] for n in (0, 2))
    assert len(set(short)) == 64
    assert long == [grpo_step.FILLER * 2 + prompt for prompt in short]


def test_the_recipe_is_sound_and_scores_tell_answers_apart(
    grpo_step: Any, tmp_path: Path, script: Callable[[str], ModuleType]
) -> None:
    rows = tmp_path / "rows.jsonl"
    grpo_step.write_rows(rows, 0)
    corridor = load_recipe(grpo_step.HERE / "grpo_step.toml", load_plugins(), [f"data.train={rows}"]).corridor
    assert len(corridor.data.tasks("train")) == 64
    assert script("length").score("eel") == pytest.approx(2 / 3)
    assert script("length").score("") == 0
