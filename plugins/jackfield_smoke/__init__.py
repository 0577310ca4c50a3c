"""A handful of facts: what `jackfield run --smoke` trains on, and a corpus for quick tests."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_data(register: Register) -> None:
    register("smoke", "jackfield_smoke.facts:SmokeTasks", "Eight questions about eight passages, for smoke runs and tests.")


@hookimpl
def jackfield_rewards(register: Register) -> None:
    register("smoke", "jackfield_smoke.reward:Varied", "A number that differs from rollout to rollout, for smoke runs and tests.")


@hookimpl
def jackfield_corpora(register: Register) -> None:
    register("smoke", "jackfield_smoke.facts:SmokePassages", "Eight passages, for smoke runs and tests.")
