"""Small made-up run folders: a recipe, metrics of a few steps, rollouts of the last evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from jackfield.plugins import Plugins, load_plugins

RECIPE = """
title = "made up"
seed = {seed}
steps = {steps}
tasks_per_step = 2
group_size = 4
model = "tiny_random"
data = "smoke"
engine = "{engine}"
rollout = {{use = "single_turn", max_new_tokens = 8}}
rewards = [{{use = "exact_match"}}, {{use = "smoke", weight = 0.0}}]
advantage = "group_norm"
losses = ["ppo_clip", {{use = "kl", weight = {kl}}}]
optimizer = {{lr = 1e-3}}
"""

MakeRun = Callable[..., Path]


@pytest.fixture(scope="session")
def plugins() -> Plugins:
    return load_plugins(environ={})


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """``make_run("a", rewards=[0.1, 0.2], scores={"t1": 1.0})``: one step a reward, an evaluation before the first and after the last."""

    def make(
        name: str, rewards: list[float], scores: Mapping[str, float], *, seed: int = 0, engine: str = "torch", kl: float = 0.0
    ) -> Path:
        folder = tmp_path / name
        (folder / "rollouts").mkdir(parents=True)
        steps = len(rewards)
        (folder / "recipe.toml").write_text(RECIPE.format(seed=seed, steps=steps, engine=engine, kl=kl))
        lines: list[Any] = [line("evaluation", 0, {"evaluation/exact_match": 0.0})]
        for step, reward in enumerate(rewards, 1):
            metrics = {
                "reward/mean": reward,
                "reward/exact_match": reward,
                "reward/smoke": 1 - reward,
                "kl/reference": 0.01 * step,
                "rollout/policy_tokens": 10.0 + step,
                "generate/tokens": 80.0 * step,
                "memory/peak_gib": 1.0 + step,
            }
            lines.append(line("step", step, metrics))
        mean = sum(scores.values()) / len(scores)
        lines.append(line("evaluation", steps, {"evaluation/exact_match": mean}))
        (folder / "metrics.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in lines))
        rows = [rollout(task, score, None if engine == "recorded" else [-0.5]) for task, score in scores.items()]
        (folder / f"rollouts/evaluation-{steps:06d}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return folder

    return make


def line(kind: str, step: int, metrics: Mapping[str, float]) -> dict[str, Any]:
    return {"kind": kind, "step": step, "metrics": metrics, "seconds": {"generate": 2.0, "total": 5.0}}


def rollout(task: str, score: float, logp: list[float] | None) -> dict[str, Any]:
    verdict = {"kind": "score", "value": score}
    segments = [{"writer": "policy", "text": "x", "tokens": [1], "logp": logp}]
    return {"task": task, "labels": {}, "verdicts": {"exact_match": verdict}, "segments": segments}
