"""Rows that cannot be played are found before anything loads, all at once, or left out by choice."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from jackfield.errors import DataError
from jackfield.plugins import load_plugins
from jackfield.preflight import _recorded_problem, playable_tasks
from jackfield.recipe import load_recipe
from jackfield.types import Task

RECIPE = """
title = "rows"
steps = 1
tasks_per_step = 1
model = {use = "tiny_random"}
data = {use = "jsonl", train = "rows.jsonl"}
rollout = {use = "tagged_tools", template = "{question}", max_tokens = 200, tool_tags = {search = "search"}}
tools = [{use = "search", corpus = "smoke"}]
rewards = ["exact_match"]
advantage = {use = "group_norm"}
group_size = 2
losses = ["ppo_clip"]
optimizer = {use = "adamw", lr = 1e-3}
evaluate = {enabled = false}
"""
SINGLE_TURN = 'rollout={use = "single_turn", max_new_tokens = 4}'
QUESTIONS = ["short?", "long " * 60, "also short?", "longer " * 60]


def corridor(folder: Path, *overrides: str) -> Any:
    rows = [json.dumps({"question": question, "answer": "yes"}) for question in QUESTIONS]
    (folder / "rows.jsonl").write_text("\n".join(rows))
    (folder / "r.toml").write_text(RECIPE)
    return load_recipe(folder / "r.toml", load_plugins(environ={}), overrides).corridor


def test_prompts_that_are_too_long_are_listed(tmp_path: Path) -> None:
    """T13: by file and line, with the first one's length and the limit, and what to do; those of one kind in one line."""
    with pytest.raises(DataError) as caught:
        playable_tasks(corridor(tmp_path))
    told, advice = map(str, caught.value.problems)
    rows = tmp_path / "rows.jsonl"
    assert told.startswith(f"{rows}:2: task ")
    assert told.endswith(f" tokens leaves no room in max_tokens = 200 (and 1 more like it: {rows}:4)")
    assert 'unplayable = "skip"' in advice


def test_they_may_be_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """By the recipe's word, with a count."""
    train, test = playable_tasks(corridor(tmp_path, "unplayable=skip"))
    assert [t.question for t in train] == ["short?", "also short?"]
    assert test == ()
    assert "2 of 4 rows cannot be played and are left out" in caplog.text


def test_recorded_turns_that_are_too_long_are_listed(tmp_path: Path) -> None:
    """D5: an answer of either side of a pair that is longer than a turn may be, its end-of-turn token counted, is told with its row before
    anything loads; one that just fits is not."""
    tokenizer = corridor(tmp_path).model.tokenizer()
    fits = next(text for text in ("a b", "a b c", "abc", "ab", "a") if len(tokenizer.encode(text)) == 3)
    rows = [{"prompt": "q", "chosen": fits, "rejected": "no"}, {"prompt": "q", "chosen": "ok", "rejected": f"{fits} and much more"}]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    loaded = load_recipe(
        tmp_path / "r.toml",
        load_plugins(environ={}),
        [f"data.train={tmp_path}/pairs.jsonl", "engine=recorded", 'rewards=["preferred"]', "tools=[]", SINGLE_TURN],
    )
    with pytest.raises(DataError) as caught:
        playable_tasks(loaded.corridor)
    first, _ = map(str, caught.value.problems)
    assert "pairs.jsonl:2" in first
    assert re.search(r"recorded attempt 2: turn 1 has \d+ tokens, but the environment allows 4$", first)


def test_more_recorded_turns_than_the_environment_lets_the_policy_have(tmp_path: Path) -> None:
    """They would be cut, and the last turn that is played would lack its end-of-turn token."""
    task = Task(id="t", prompt=(), recorded=(("1\n", "2"), ("1\n", "2\n", "3")), origin="steps.jsonl:1")
    allowing = corridor(tmp_path, 'engine="recorded"', "tools=[]", 'rollout={use="steps", max_new_tokens_per_step=9, max_steps=2}')
    tokenizer = allowing.model.tokenizer()
    found = _recorded_problem(task, allowing, tokenizer)
    assert found == "recorded attempt 2 has 3 turns, but the environment allows 2"
    assert _recorded_problem(evolve(task, recorded=(("1\n", "2"),) * 2), allowing, tokenizer) is None


def test_too_few_recorded_attempts(tmp_path: Path) -> None:
    """An engine that plays recordings needs one for every member of a group."""
    with pytest.raises(DataError, match="has 0 recorded attempts, but group_size = 2"):
        playable_tasks(corridor(tmp_path, "unplayable=refuse", 'engine={use="recorded"}'))
