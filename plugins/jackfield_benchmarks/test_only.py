"""What all test sets say to a recipe that would train on them."""

from __future__ import annotations

from jackfield.errors import Problem, UserError


def refuse_training(name: str, split: str) -> None:
    """Raises UserError for any split but the test split."""
    if split != "test":
        message = f"{name} is a test set: nothing may be trained on it; write steps = 0 to evaluate a model, or train on other data"
        raise UserError(Problem("", "data", message))
