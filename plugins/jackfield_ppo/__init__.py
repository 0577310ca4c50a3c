"""Proximal policy optimisation: clipped policy and value losses, and the entropy bonus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jackfield import hookimpl

if TYPE_CHECKING:
    from jackfield.hookspecs import Register


@hookimpl
def jackfield_losses(register: Register) -> None:
    register("ppo_clip", "jackfield_ppo.policy:PpoClip", "Clipped policy loss (PPO, GRPO), with an optional dual clip.")
    register("value_clip", "jackfield_ppo.value:ValueClip", "Squared error of the critic, clipped around its old values.")
    register("entropy", "jackfield_ppo.entropy:Entropy", "Entropy bonus; its weight is the bonus per nat.")
