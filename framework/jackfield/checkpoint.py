"""Checkpoints: complete or not there.

A checkpoint is a folder ``checkpoints/step-000040`` of the run folder::

    model/          loads with transformers' AutoModelForCausalLM.from_pretrained
    critic/         if there is a critic
    optimizer.pt    state of the optimizer
    state.json      step, updates, tasks drawn, what components learnt from step to step

It is written beside under a name that starts with a dot and renamed when all of it is on disk.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, field, frozen

from jackfield.errors import UserError
from jackfield.words import counted

if TYPE_CHECKING:
    from jackfield.step import Held


@frozen(kw_only=True)
class State:
    """What must be known, besides weights, to go on as if the run had not stopped."""

    step: int
    """Steps done."""
    update: int
    """Optimizer updates done."""
    drawn: int
    """Tasks drawn from the training data."""
    sampled: int = 0
    """Tokens the policy sampled for training."""
    components: Mapping[str, Mapping[str, float]] = field(factory=dict)
    """Place of a component in the recipe → its ``state()``."""


def save(run_folder: Path, held: Held, state: State, *, keep: int) -> Path:
    """Write a checkpoint, then delete all but the newest ``keep``."""
    import torch

    final = run_folder / "checkpoints" / f"step-{state.step:06d}"
    if final.exists():
        return final
    partial = final.with_name(f".{final.name}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    held.policy.save(partial / "model")
    if held.critic is not None:
        held.critic.save(partial / "critic")
    torch.save(held.learner.torch_optimizer.state_dict(), partial / "optimizer.pt")
    (partial / "state.json").write_text(json.dumps(asdict(state)), encoding="utf-8")
    _flush(partial)
    partial.rename(final)
    for old in saved(run_folder)[:-keep]:
        shutil.rmtree(old)
    return final


def restore(folder: Path, held: Held, components: Mapping[str, Any]) -> State:
    """Take over everything a checkpoint holds; gives where the run stood. ``components``: those that have a state, by place."""
    import torch

    state = read_state(folder)
    held.policy.restore(folder / "model")
    if held.critic is not None:
        held.critic.restore(folder / "critic")
    held.learner.torch_optimizer.load_state_dict(torch.load(folder / "optimizer.pt", weights_only=True))
    held.learner.update = state.update
    held.policy.policy_version = state.update
    for place, learnt in state.components.items():
        components[place].restore(learnt)
    return state


def read_state(folder: Path) -> State:
    """Where the run stood."""
    return State(**json.loads((folder / "state.json").read_text(encoding="utf-8")))


def saved(run_folder: Path) -> list[Path]:
    """Complete checkpoints, oldest first."""
    return sorted((run_folder / "checkpoints").glob("step-*"))


def chosen(run_folder: Path, step: int | None) -> Path:
    """The checkpoint after ``step`` steps, or the newest.

    Raises UserError naming those that exist.
    """
    there = saved(run_folder)
    if not there:
        raise UserError(f"{run_folder}: no checkpoint; expected {run_folder}/checkpoints/step-… written by `jackfield run`")
    if step is None:
        return there[-1]
    for folder in there:
        if folder.name == f"step-{step:06d}":
            return folder
    steps = ", ".join(str(int(f.name.removeprefix("step-"))) for f in there)
    raise UserError(f"{run_folder}: no checkpoint after {counted(step, 'step')}; there are: {steps}")


def _flush(folder: Path) -> None:
    """Everything in the folder reaches the disk before the rename that declares it complete."""
    for path in [*folder.rglob("*"), folder]:
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
