"""Environments: what follows a policy turn."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_environments(register: Register) -> None:
    register("single_turn", "jackfield_environments.single_turn:SingleTurn", "One prompt, one answer.")
    register("steps", "jackfield_environments.steps:Steps", "One answer, of which every line is a turn of its own.")
    register(
        "retrieve_then_read",
        "jackfield_environments.retrieve_then_read:RetrieveThenRead",
        "Retrieval-augmented generation: what a search for the question finds is read before the one answer.",
    )
    register(
        "tagged_tools",
        "jackfield_environments.tagged_tools:TaggedTools",
        "Search-R1's protocol: <search>…</search> is followed by <information>…</information>, until <answer>…</answer>.",
    )
    register(
        "tagged_tools_unmasked",
        "jackfield_environments.unmasked:TaggedToolsUnmasked",
        "WRONG PRACTICE, for the mask ablation only: tagged_tools, trained on the environment's tokens as well.",
    )
