"""Policy-gradient losses, from the plain one to PPO's with its parts to take off, the critic's loss, and the entropy bonus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jackfield import hookimpl

if TYPE_CHECKING:
    from jackfield.hookspecs import Register


@hookimpl
def jackfield_losses(register: Register) -> None:
    register("reinforce", "jackfield_ppo.reinforce:Reinforce", "The plain policy gradient: advantage × log-prob.")
    register("ppo_clip", "jackfield_ppo.policy:PpoClip", "Clipped policy loss (PPO, GRPO), with an optional dual clip.")
    register("gspo", "jackfield_ppo.gspo:Gspo", "Policy loss whose ratio is the whole rollout's, not the token's (GSPO).")
    register("cispo", "jackfield_ppo.cispo:Cispo", "Policy gradient whose weight, not whose term, is clipped (CISPO).")
    register("value_clip", "jackfield_ppo.value:ValueClip", "Squared error of the critic, clipped around its old values.")
    register("entropy", "jackfield_ppo.entropy:Entropy", "Entropy bonus; its weight is the bonus per nat.")
