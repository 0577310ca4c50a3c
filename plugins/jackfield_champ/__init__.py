"""Competition problems with graded answers of models: tasks with gold answers, and pairs of a right and a wrong answer."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_data(register: Register) -> None:
    register("champ", "jackfield_champ.data:Champ", "79 competition problems whose answer is an integer.")
    register("champ_pairs", "jackfield_champ.data:ChampPairs", "Pairs of a right and a wrong answer of one model to one problem.")
    register(
        "champ_steps",
        "jackfield_champ.data:ChampSteps",
        "Solutions to all problems, with the steps up to the first mistake labelled.",
    )
