"""Generative verifiers: a language model reads the answer and says what it is worth."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_rewards(register: Register) -> None:
    register("judge", "jackfield_judge.local:LocalJudge", "A language model here reads the answer and gives a verdict.")
    register(
        "judge_endpoint",
        "jackfield_judge.endpoint:EndpointJudge",
        "A language model behind an OpenAI-compatible endpoint reads the answer and gives a verdict.",
    )
