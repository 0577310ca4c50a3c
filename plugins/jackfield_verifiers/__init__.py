"""Verifiers: rewards that compare what the policy wrote with the gold answer, or with a form."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_rewards(register: Register) -> None:
    register("exact_match", "jackfield_verifiers.answers:ExactMatch", "1 if the answer equals a gold answer as SQuAD compares.")
    register("f1", "jackfield_verifiers.answers:F1", "Overlap of the answer's words with the nearest gold answer (SQuAD F1).")
    register("substring_match", "jackfield_verifiers.answers:SubstringMatch", "1 if the answer contains a gold answer.")
    register("last_number", "jackfield_verifiers.numbers:LastNumber", "1 if the last number written is the gold number.")
    register("format", "jackfield_verifiers.form:Format", "1 if the tags are well formed, with one answer at the end.")
