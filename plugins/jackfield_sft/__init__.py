"""Supervised training through the same corridor: recorded answers instead of sampled ones, and cross entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jackfield import hookimpl

if TYPE_CHECKING:
    from jackfield.hookspecs import Register


@hookimpl
def jackfield_data(register: Register) -> None:
    register("gold_answers", "jackfield_sft.gold_answers:GoldAnswers", "Other data's gold answers as recorded attempts, for SFT.")


@hookimpl
def jackfield_engines(register: Register) -> None:
    register("recorded", "jackfield_sft.recorded:Recorded", "Plays the answers recorded in the data instead of sampling.")


@hookimpl
def jackfield_losses(register: Register) -> None:
    register("cross_entropy", "jackfield_sft.loss:CrossEntropy", "Negative log-likelihood of what the policy wrote.")
