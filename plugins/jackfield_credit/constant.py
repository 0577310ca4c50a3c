"""Advantage 1 everywhere: what turns the policy-gradient corridor into maximum likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from jackfield.types import Credited, Group, Measured
from jackfield_credit.placing import credited


@frozen(kw_only=True)
class Constant:
    """Advantage 1 on every policy token, whatever the reward.

    For supervised recipes: with it, a policy-gradient loss and ``cross_entropy`` have the same gradient (at ratio 1).

    A recipe may name rewards all the same, to measure or for a filter to choose by; then rollouts without one (failed, or every
    source abstained) leave the step. Groups of equal reward, groups of one and truncated rollouts are like any other.
    """

    smallest_group: ClassVar[int] = 1
    uses_reward: ClassVar[bool] = False
    gives_returns: ClassVar[bool] = False

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        """``advantage`` [L]: 1 where the policy wrote; no ``returns``."""
        return credited(groups, [1.0 for group in groups for _ in group])
