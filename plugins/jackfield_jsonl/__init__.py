"""The user's own rows and passages, one JSON object a line."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_data(register: Register) -> None:
    register(
        "jsonl", "jackfield_jsonl.data:Jsonl", "Your own rows: Search-R1, chat, prompt/answer, preference or labelled-step shapes."
    )


@hookimpl
def jackfield_corpora(register: Register) -> None:
    register("jsonl", "jackfield_jsonl.corpus:JsonlCorpus", "Your own passages, in Search-R1's corpus format.")
