"""Verifiers: rewards that compare what the policy wrote with the gold answer or a form, count its tokens, or ask a function."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_rewards(register: Register) -> None:
    register("exact_match", "jackfield_verifiers.answers:ExactMatch", "1 if the answer equals a gold answer as SQuAD compares.")
    register("f1", "jackfield_verifiers.answers:F1", "Overlap of the answer's words with the nearest gold answer (SQuAD F1).")
    register("substring_match", "jackfield_verifiers.answers:SubstringMatch", "1 if the answer contains a gold answer.")
    register("last_number", "jackfield_verifiers.numbers:LastNumber", "1 if the last number written is the gold number.")
    register("number", "jackfield_verifiers.numbers:Number", "1 if the number in the answer is the gold number.")
    register("multiple_choice", "jackfield_verifiers.choice:MultipleChoice", "1 if the chosen letter is the gold letter.")
    register("regex", "jackfield_verifiers.pattern:Regex", "1 if a regular expression matches.")
    register("json_schema", "jackfield_verifiers.structured:JsonSchema", "1 if it is JSON that fits a schema.", extra="json")
    register("function", "jackfield_verifiers.function:Function", "What a Python function of yours says.")
    register("length", "jackfield_verifiers.length:Length", "A cost for every token beyond a target.")
    register("overlong", "jackfield_verifiers.length:Overlong", "Soft punishment of over-long answers (DAPO).")
    register("format", "jackfield_verifiers.form:Format", "1 if the tags are well formed, with one answer at the end.")
    register("tool_calls", "jackfield_verifiers.calls:ToolCalls", "What each tool call is worth, at the turn that made it.")
