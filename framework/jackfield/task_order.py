"""Which tasks a step gets: a pure function of the seed and of how many were drawn before, so that resuming needs one number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jackfield import seeds
from jackfield.types import Task


def draw(tasks: Sequence[Task], *, seed: int, drawn: int, count: int) -> list[Task]:
    """The next ``count`` tasks after ``drawn`` earlier ones: every pass over the data is shuffled anew, and none is left out."""
    chosen = []
    order: dict[int, np.ndarray] = {}
    for position in range(drawn, drawn + count):
        epoch, index = divmod(position, len(tasks))
        if epoch not in order:
            order[epoch] = np.random.default_rng(seeds.derive(seed, "task order", epoch)).permutation(len(tasks))
        chosen.append(tasks[order[epoch][index]])
    return chosen
