"""Credit from a critic, with an exponential weight between looking one token ahead and looking to the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from jackfield.component import fraction, option
from jackfield.types import Credited, Group, Measured
from jackfield_credit.placing import credited
from jackfield_credit.timeline import discounted_to_go, temporal_differences, values, whitened


@frozen(kw_only=True)
class Gae:
    """Generalised advantage estimation (Schulman et al. 2015, arXiv 1506.02438, eq. 16), in float64.

    A time step is a token the policy wrote. Prompts and observations are part of the next state, not steps: neither γ nor λ
    decays across them, and the value after a turn's last token is the value before the next turn's first.

        δ_t = r_t + γ V_{t+1} − V_t        A_t = δ_t + γλ A_{t+1}        return_t = A_t + V_t, before whitening

    ``bootstrap_truncated``: after the last token V is 0, except in a rollout cut off by its token or turn budget, where it is the
    critic's value there: it did not end, we stopped looking. With an outcome reward this also means that running out of budget
    costs nothing beyond the reward not earned; set it to false (Search-R1 does) to make running out an ordinary end worth 0.

    ``whiten`` is over the policy tokens of all rollouts of the step, with the population variance: a single token gives 0.

    Groups play no part: one of equal rewards, or of a single rollout, is credited like any other. Rollouts without a reward
    (failed, or every source abstained) have left the step before.
    """

    gamma: float = option(1.0, help="discount γ per policy token", check=fraction)
    lam: float = option(1.0, help="exponential weight λ of the advantage", check=fraction)
    critic_lam: float | None = option(
        None,
        help="λ of the critic's targets; unset: lam. λ < 1 with a critic's λ of 1 is VAPO's decoupling (arXiv 2504.05118)",
        check=lambda value: None if value is None else fraction(value),
    )
    whiten: bool = option(True, help="shift and scale advantages to mean 0, variance 1 over all policy tokens of the step")
    bootstrap_truncated: bool = option(
        True, help="a rollout cut off by a token or turn budget ends with the critic's value, not with 0"
    )

    needs: ClassVar[frozenset[str]] = frozenset({"value"})
    smallest_group: ClassVar[int] = 1
    uses_reward: ClassVar[bool] = True
    gives_returns: ClassVar[bool] = True

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        """``advantage`` and ``returns`` [L], NaN where the policy did not write."""
        rollouts = [rollout for group in groups for rollout in group]
        deltas = [temporal_differences(r, self.gamma, bootstrap_truncated=self.bootstrap_truncated) for r in rollouts]
        advantages = discounted_to_go(deltas, self.gamma * self.lam)
        targets = advantages if self.critic_lam is None else discounted_to_go(deltas, self.gamma * self.critic_lam)
        returns = [target + values(rollout) for target, rollout in zip(targets, rollouts, strict=True)]
        return credited(groups, whitened(advantages) if self.whiten else advantages, returns)
