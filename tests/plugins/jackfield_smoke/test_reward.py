"""The smoke reward depends on what the policy wrote and on nothing else."""

from __future__ import annotations

import pytest

from jackfield.testing.tiny_model import credited_rollout
from jackfield_smoke.reward import Varied


def test_sum_of_policy_ids_modulo_seven() -> None:
    """4 + 6 + 0 = 10, 10 mod 7 = 3; prompt and observation do not count."""
    rollout = credited_rollout([("task", [5, 5]), ("policy", [4, 6]), ("environment", [9]), ("policy", [0])])
    assert Varied().judge(rollout).value == pytest.approx(3 / 7)
