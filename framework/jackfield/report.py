"""What a step and a run have to say: the records that trackers and observers get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from jackfield.types import Group, Scored


@frozen(kw_only=True, eq=False)
class RunInfo:
    """A run as trackers see it."""

    title: str
    folder: Path
    """The run folder: ``recipe.toml`` (frozen), ``metrics.jsonl``, ``rollouts/``, ``checkpoints/``."""
    steps: int
    first_step: int
    """Above 0 when resumed."""
    samples: bool = True
    """False where recorded attempts are played back: then losses tell how it goes, and rewards nothing."""
    frozen_recipe: Mapping[str, Any]


@frozen(kw_only=True, eq=False)
class StepReport:
    """One training step, or one evaluation (``kind`` = "evaluation": after ``step`` steps, on the test split).

    ``metrics`` maps ``"reward/mean"``-like names to numbers; the names and their denominators are listed in ``metrics.py``.
    """

    kind: str
    step: int
    metrics: Mapping[str, float]
    seconds: Mapping[str, float] = field(factory=dict)
    """By phase: generate, score, measure, learn, other, total."""
    groups: Sequence[Group[Scored]] = ()
    """Every rollout, with its verdicts and, where it came so far, its advantages."""
