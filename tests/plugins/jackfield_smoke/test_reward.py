"""The smoke reward depends on what the policy wrote and on nothing else."""

from __future__ import annotations

import pytest

from jackfield.testing.tiny_model import credited_rollout
from jackfield_smoke.reward import Varied


def test_sum_of_policy_ids_modulo_97() -> None:
    """60 + 47 + 0 = 107, 107 mod 97 = 10, and one more; prompt and observation do not count. A sum of 97 is no 0."""
    rollout = credited_rollout([("task", [5, 5]), ("policy", [60, 47]), ("environment", [9]), ("policy", [0])])
    assert Varied().judge(rollout).value == pytest.approx(11 / 97)
    assert Varied().judge(credited_rollout([("task", [5]), ("policy", [97])])).value == pytest.approx(1 / 97)
