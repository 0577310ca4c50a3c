"""What every component of a kind promises, checked in one line of your own tests.

Example::

    from jackfield.testing.contracts import check_offered, offered

    @pytest.mark.parametrize("entry", offered("acme"), ids=str)
    def test_contracts(entry):
        check_offered(entry)

Each check raises AssertionError naming what was promised and what was found. They know nothing of what your component is for:
test that yourself.
"""

from __future__ import annotations

from jackfield.testing.contracts.advantages import check_advantage
from jackfield.testing.contracts.environments import check_environment
from jackfield.testing.contracts.filters import check_filter
from jackfield.testing.contracts.losses import check_loss
from jackfield.testing.contracts.offered import check_offered, offered
from jackfield.testing.contracts.penalties import check_penalty
from jackfield.testing.contracts.rewards import check_reward
from jackfield.testing.contracts.tools import check_tool

__all__ = [
    "check_advantage",
    "check_environment",
    "check_filter",
    "check_loss",
    "check_offered",
    "check_penalty",
    "check_reward",
    "check_tool",
    "offered",
]
