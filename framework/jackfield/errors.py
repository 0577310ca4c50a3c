"""The two worlds of error: a user's mistake (one clean message, exit code 2) and ours (a traceback, exit code 1).

How to word a user's mistake: the place, what was found, what was expected, the nearest valid choice; all problems at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from attrs import frozen


@frozen
class Problem:
    """One thing wrong at one place.

    Example: ``Problem("recipes/bad.toml:8", "losses.0.clip_epz", "unknown key; did you mean 'clip_low'?")``
    """

    place: str
    """``file:line``, ``file:line`` of a data row, or a plugin's name; may be empty."""
    subject: str
    """The key, field, hook or row it is about; may be empty."""
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.place, self.subject, self.message) if part)


class UserError(Exception):
    """A mistake the user can mend. Printed without traceback; the command ends with exit code 2."""

    def __init__(self, problems: str | Problem | Sequence[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem("", "", problems)
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class RecipeError(UserError):
    """The recipe, or what it names, does not fit."""


class DataError(UserError):
    """Rows of the user's data are not usable; each problem names file and line."""


class NothingScored(UserError):
    """No rollout of a step could be judged: what judges, plays or is judged does not fit, and going on would learn nothing."""


class StopRun(Exception):
    """Raised by an observer to end the run cleanly, with a checkpoint."""


class Interrupted(Exception):
    """The run ended before its end, at the user's or an observer's wish, with a checkpoint; the command ends with exit code 130."""


class EngineFailure(Exception):
    """The engine could not make tokens (out of memory, weights that diverged). Ours to look into: it ends the run with a traceback."""


class RolloutFailure(Exception):
    """One rollout cannot go on, and the others can: raised by its environment or the engine's session, counted as a failed rollout."""


class PluginError(UserError):
    """A plugin could not be loaded, or a name it offers cannot be used."""


def nearest(name: str, choices: Iterable[str]) -> str:
    """``"; did you mean 'gae'?"`` for a near miss, else the list of choices, ready to be appended to a message."""
    known = sorted(set(choices))
    close = closest(name, known)
    if close is not None:
        return f"; did you mean '{close}'?"
    return f"; choose from: {', '.join(known)}" if known else ""


def closest(name: str, choices: Iterable[str]) -> str | None:
    """The choice that was probably meant, if one is near."""
    return next(iter(difflib.get_close_matches(name, sorted(set(choices)), n=1, cutoff=0.6)), None)
