"""Ways to assign credit: with a critic, against the group, against the step or earlier steps, by pairs, and a constant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jackfield import hookimpl

if TYPE_CHECKING:
    from jackfield.hookspecs import Register


@hookimpl
def jackfield_advantages(register: Register) -> None:
    register("gae", "jackfield_credit.gae:Gae", "Generalised advantage estimation with a critic, over policy tokens only.")
    register("td0", "jackfield_credit.td0:Td0", "One-step temporal difference with a critic, over policy tokens only.")
    register(
        "monte_carlo", "jackfield_credit.monte_carlo:MonteCarlo", "Discounted return to go (REINFORCE), with or without a critic."
    )
    register(
        "group_norm", "jackfield_credit.group_norm:GroupNorm", "Reward relative to the group's mean and spread (GRPO, Dr. GRPO)."
    )
    register("leave_one_out", "jackfield_credit.leave_one_out:LeaveOneOut", "Reward against the mean of the group's others (RLOO).")
    register(
        "running_baseline",
        "jackfield_credit.running_baseline:RunningBaseline",
        "Reward against a moving average of earlier steps (REINFORCE with a baseline).",
    )
    register(
        "reinforce_plus_plus",
        "jackfield_credit.reinforce_plus_plus:ReinforcePlusPlus",
        "Returns to go whitened over the whole step (REINFORCE++).",
    )
    register("pairs", "jackfield_credit.pairs:Pairs", "Best against worst of the group: for DPO, IPO and reward models.")
    register("constant", "jackfield_credit.constant:Constant", "Advantage 1 on every policy token: supervised training.")
