"""Learning from a label for every step: process reward models."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_losses(register: Register) -> None:
    register("step_cross_entropy", "jackfield_process.loss:StepCrossEntropy", "Trains a process reward model on labels of steps.")


@hookimpl
def jackfield_rewards(register: Register) -> None:
    register("step_labels", "jackfield_process.labels:StepLabels", "The labels that the data gives to the steps of an attempt.")
