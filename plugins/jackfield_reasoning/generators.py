"""The package's generators, made with the user's keys, and every mistake in them told by name.

Reasoning Gym (Stojanovski et al. 2025, "Reasoning Gym: reasoning environments for reinforcement learning with verifiable rewards"),
Apache-2.0. Importing it takes seconds, so it happens inside functions.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from typing import Any

from jackfield.errors import Problem, UserError, nearest

EVALUATES = frozenset({
    "binary_matrix", "intermediate_integration", "n_queens", "polynomial_multiplication", "simple_integration", "spiral_matrix",
    "string_insertion",
})  # fmt: skip
"""Generators whose scorer hands the answer to ``eval`` or to sympy's parser, which evaluates Python: a model's text is never run here."""
UNSTEADY = frozenset({"isomorphic_strings", "polynomial_multiplication", "ransom_note"})
"""Generators that draw from the order of a set: another question in every process, unless Python's string hashes are fixed."""
OURS = frozenset({"seed", "size"})
"""Keys of every generator that the data source sets itself."""


def generator(name: str, keys: Mapping[str, Any], *, seed: int, size: int) -> Any:
    """Item i is drawn with the seed ``seed + i``. Raises UserError for an unknown name, unknown keys or values that do not fit."""
    known = _datasets()
    if name not in known:
        raise UserError(Problem("", "data.dataset", f"Reasoning Gym has no generator '{name}'{nearest(name, known)}"))
    made, configured = known[name]
    possible = [field.name for field in dataclasses.fields(configured) if field.name not in OURS]
    wrong = [Problem("", f"data.config.{key}", _wrong_key(name, key, possible)) for key in keys if key not in possible]
    if wrong:
        raise UserError(wrong)
    try:
        config = configured(**keys, seed=seed, size=size)
        if hasattr(config, "validate"):
            config.validate()
        return made(config=config)
    except (AssertionError, TypeError, ValueError) as error:
        raise UserError(Problem("", "data.config", f"{name} refuses its keys: {error}")) from error


def require_steady(name: str) -> None:
    """Raises UserError for a generator whose questions this process would not share with the next one."""
    if name in UNSTEADY and sys.flags.hash_randomization:
        raise UserError(Problem(
            "", "data.dataset", f"{name} gives other questions in every process; set PYTHONHASHSEED=0 in the environment to fix them"
        ))  # fmt: skip


def _datasets() -> Mapping[str, tuple[type[Any], type[Any]]]:
    """Name → (generator, its config), without ``composite``, whose keys are generators of their own."""
    try:
        import reasoning_gym
    except ModuleNotFoundError as error:
        message = f"needs the module '{error.name}', which is not installed; pip install 'jackfield[reasoning]'"
        raise UserError(Problem("", "reasoning_gym", message)) from error
    return {name: pair for name, pair in reasoning_gym.factory.DATASETS.items() if name != "composite"}


def _wrong_key(name: str, key: str, possible: list[str]) -> str:
    if key in OURS:
        return "is set by the data source; write num_train and num_test"
    return f"unknown key of {name}{nearest(key, possible)}"
