"""A user's reward function, for the component that calls one."""

from __future__ import annotations


def score(completion: str, answers: tuple[str, ...]) -> float | None:
    """Whether the completion holds an answer; not applicable where there is none."""
    return float(any(answer in completion for answer in answers)) if answers else None
