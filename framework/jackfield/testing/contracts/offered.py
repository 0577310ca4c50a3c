"""What a plugin registers of the kinds that have a check, each by the check of its kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from jackfield.plugins import load_plugins
from jackfield.registry import Entry
from jackfield.testing.contracts.advantages import check_advantage
from jackfield.testing.contracts.environments import check_environment
from jackfield.testing.contracts.filters import check_filter
from jackfield.testing.contracts.losses import check_loss
from jackfield.testing.contracts.penalties import check_penalty
from jackfield.testing.contracts.rewards import check_reward
from jackfield.testing.contracts.tools import check_tool
from jackfield.testing.fakes import ScriptedTool


def _with_stand_in_tools(environment: Any) -> None:
    check_environment(environment, {name: ScriptedTool(name=name) for name in getattr(environment, "requires_tools", ())})


CHECKS: Mapping[str, Callable[[Any], None]] = {
    "environments": _with_stand_in_tools,
    "tools": check_tool,
    "rewards": check_reward,
    "filters": check_filter,
    "penalties": check_penalty,
    "advantages": check_advantage,
    "losses": check_loss,
}
"""Kind of component → its check."""


def offered(*plugins: str) -> list[Entry]:
    """What the installed plugins of these names (all, if none is given) offer of the kinds that have a check.

    Raises AssertionError if one of them fails to load, UserError if it is not installed.
    """
    loaded = load_plugins(environ={**os.environ, "JACKFIELD_PLUGINS": ",".join(plugins)})
    wrong = [str(problem) for failure in loaded.failures for problem in failure.problems]
    assert not wrong, "\n".join(wrong)
    return [entry for kind in CHECKS for entry in loaded.registries[kind].entries]


def check_offered(entry: Entry, **keys: Any) -> None:
    """Makes the component, with ``keys`` for those without a default, and checks what its kind promises.

    A key that holds another component (a tool's corpus) is given that component itself.
    """
    CHECKS[entry.kind](entry.load()(**keys))
