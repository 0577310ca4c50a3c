"""Credit relative to how the policy did in the steps before, with neither critic nor groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import define, field

from jackfield.component import option
from jackfield.types import Credited, Group, Measured
from jackfield_credit.placing import credited, total_reward


@define(kw_only=True, eq=False)
class RunningBaseline:
    """REINFORCE with a moving average of earlier rewards as baseline, the same on every token of a rollout.

        A = R − b        b = Σ_s w_s m_s / Σ_s w_s over the steps s before this one, w_s = decay^(steps since s)

    R is a rollout's total reward, penalties on its tokens included; m_s is step s's ``reward/mean``: over all its rollouts with a
    reward (also those that a filter left out), before penalties. b is what was known before the step, so it does not depend on what
    it is taken off and the policy gradient stays unbiased (Williams 1992; Ahmadian et al. 2024, arXiv 2402.14740, compare it with
    leave-one-out). Before the first step nothing is known and b is 0. The average is kept in checkpoints.

    Groups play no part, so a task may have a single rollout, and a group of equal rewards learns from how it compares with earlier
    steps. A rollout cut off by a budget has earned what it has earned until then. Rollouts without a reward (failed, or every source
    abstained) have left the step before, and count in no mean.
    """

    decay: float = option(
        0.9,
        help="a step counts this much of the step after it; 0: only the last one counts",
        check=lambda value: None if 0 <= value < 1 else f"must be at least 0 and below 1, found {value}",
    )

    smallest_group: ClassVar[int] = 1
    uses_reward: ClassVar[bool] = True
    gives_returns: ClassVar[bool] = False

    _weighted: float = field(default=0.0, init=False)
    _weight: float = field(default=0.0, init=False)

    @property
    def baseline(self) -> float:
        """b of the coming step."""
        return self._weighted / self._weight if self._weight else 0.0

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        """``advantage`` [L], constant over a rollout's policy tokens; no ``returns``."""
        baseline = self.baseline
        return credited(groups, [total_reward(rollout) - baseline for group in groups for rollout in group])

    def after_step(self, metrics: Mapping[str, float]) -> None:
        """Take in the step's mean reward; a step without one changes nothing."""
        if "reward/mean" in metrics:
            self._weighted = self.decay * self._weighted + metrics["reward/mean"]
            self._weight = self.decay * self._weight + 1.0

    def state(self) -> dict[str, float]:
        """Both sums of the average."""
        return {"weighted": self._weighted, "weight": self._weight}

    def restore(self, state: Mapping[str, float]) -> None:
        """Go on from what ``state`` gave."""
        self._weighted, self._weight = state["weighted"], state["weight"]
