"""Credit from what was earned from a token on, to the end of the rollout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from attrs import frozen

from jackfield.component import fraction, option
from jackfield.types import Credited, Group, Measured
from jackfield_credit.placing import credited
from jackfield_credit.timeline import discounted_to_go, rewards, values, whitened


@frozen(kw_only=True)
class MonteCarlo:
    """The discounted return to go, less the critic's value if there is a baseline (REINFORCE, Williams 1992), in float64.

        G_t = r_t + γ G_{t+1}        A_t = G_t, or G_t − V_t        return_t = G_t, before whitening

    r_t is the reward on token t: the outcome on the last, a turn's own reward on the turn's last, less the penalties on theirs. A
    time step is a token the policy wrote, so that γ does not decay across observations.

    Nothing is ever guessed: a rollout cut off by a token or turn budget has earned what it has earned until then. (``gae`` with
    λ = 1 ends it with the critic's value, and is the same as ``baseline = "value"`` everywhere else.)

    Without a baseline every token of a step in which all succeed is reinforced, and nothing pushes down what fails with reward 0.
    Groups play no part: one of equal rewards, or of a single rollout, is credited like any other. Rollouts without a reward
    (failed, or every source abstained) have left the step before.
    """

    gamma: float = option(1.0, help="discount γ per policy token", check=fraction)
    baseline: Literal["none", "value"] = option(
        "none", help="what is taken off the return: nothing, or the critic's value (needs [critic])"
    )
    whiten: bool = option(False, help="shift and scale advantages to mean 0, variance 1 over all policy tokens of the step")

    smallest_group: ClassVar[int] = 1
    uses_reward: ClassVar[bool] = True
    gives_returns: ClassVar[bool] = True

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"value"}) if self.baseline == "value" else frozenset()

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        """``advantage`` and ``returns`` [L], NaN where the policy did not write."""
        rollouts = [rollout for group in groups for rollout in group]
        returns = discounted_to_go([rewards(rollout) for rollout in rollouts], self.gamma)
        advantages = returns
        if self.baseline == "value":
            advantages = [to_go - values(rollout) for to_go, rollout in zip(returns, rollouts, strict=True)]
        return credited(groups, whitened(advantages) if self.whiten else advantages, returns)
