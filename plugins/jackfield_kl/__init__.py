"""Staying near the reference: the KL divergence as a term of the loss or as part of the reward."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jackfield import hookimpl

if TYPE_CHECKING:
    from jackfield.hookspecs import Register


@hookimpl
def jackfield_losses(register: Register) -> None:
    register("kl", "jackfield_kl.loss:Kl", "KL to the reference in the loss (GRPO).")


@hookimpl
def jackfield_penalties(register: Register) -> None:
    register("kl", "jackfield_kl.penalty:Kl", "KL to the reference in the reward of every token (PPO for language models).")
