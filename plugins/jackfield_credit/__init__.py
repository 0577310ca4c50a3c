"""Ways to assign credit: generalised advantage estimation, group normalisation, and a constant for supervised recipes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jackfield import hookimpl

if TYPE_CHECKING:
    from jackfield.hookspecs import Register


@hookimpl
def jackfield_advantages(register: Register) -> None:
    register("gae", "jackfield_credit.gae:Gae", "Generalised advantage estimation with a critic, over policy tokens only.")
    register(
        "group_norm", "jackfield_credit.group_norm:GroupNorm", "Reward relative to the group's mean and spread (GRPO, Dr. GRPO)."
    )
    register("constant", "jackfield_credit.constant:Constant", "Advantage 1 on every policy token: supervised training.")
