"""The reward of the step benchmarks: cheap, and different for every answer, so that no group is without a lesson."""

from __future__ import annotations


def score(completion: str) -> float:
    """Share of its letters that are an "e"."""
    return completion.count("e") / max(len(completion), 1)
