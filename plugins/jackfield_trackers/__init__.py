"""Trackers: the terminal, files in the run folder, TensorBoard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jackfield import hookimpl

if TYPE_CHECKING:
    from jackfield.hookspecs import Register


@hookimpl
def jackfield_trackers(register: Register) -> None:
    register("console", "jackfield_trackers.console:Console", "Progress bars, one line a step, a table at the end.")
    register("metrics_jsonl", "jackfield_trackers.metrics_jsonl:MetricsJsonl", "Every metric of every step, in metrics.jsonl.")
    register(
        "rollouts_jsonl", "jackfield_trackers.rollouts_jsonl:RolloutsJsonl", "Every rollout, for jackfield show, in rollouts/."
    )
    register(
        "tensorboard",
        "jackfield_trackers.tensorboard:TensorBoard",
        "Metrics as TensorBoard scalars, in tensorboard/.",
        extra="tensorboard",
    )
