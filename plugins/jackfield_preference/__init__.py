"""Learning from pairs of which one member is preferred: the policy itself (DPO, IPO) or a reward model (Bradley-Terry)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jackfield import hookimpl

if TYPE_CHECKING:
    from jackfield.hookspecs import Register


@hookimpl
def jackfield_losses(register: Register) -> None:
    register("dpo", "jackfield_preference.dpo:Dpo", "Direct preference optimisation, with optional label smoothing.")
    register("ipo", "jackfield_preference.ipo:Ipo", "Preferences by a squared error that cannot run away (IPO).")
    register("chosen_nll", "jackfield_preference.chosen_nll:ChosenNll", "Cross entropy of the preferred member only, beside DPO.")
    register("bradley_terry", "jackfield_preference.bradley_terry:BradleyTerry", "Trains a reward model on pairs.")


@hookimpl
def jackfield_rewards(register: Register) -> None:
    register("preferred", "jackfield_preference.preferred:Preferred", "The score the data gives to a recorded attempt.")
