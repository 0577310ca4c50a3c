"""Credit from a critic that looks one token ahead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from attrs import frozen

from jackfield.component import fraction, option
from jackfield.types import Credited, Group, Measured
from jackfield_credit.placing import credited
from jackfield_credit.timeline import temporal_differences, values, whitened


@frozen(kw_only=True)
class Td0:
    """One-step temporal difference, TD(0) (Sutton 1988; Sutton and Barto, 2nd edition, eq. 6.5), in float64.

        A_t = δ_t = r_t + γ V_{t+1} − V_t        return_t = r_t + γ V_{t+1}, before whitening

    The end of ``gae`` at λ = 0: the least variance, and all the critic's errors. An outcome reward reaches the tokens before the
    last one only through the critic, one token further with every step of training.

    A time step is a token the policy wrote: V_{t+1} after a turn's last token is the value before the next turn's first, whatever
    was observed in between. After a rollout's last token it is 0, or with ``bootstrap_truncated`` the critic's value where a token
    or turn budget cut the rollout off. ``whiten`` is as in ``gae``: all equal, or a single token, gives 0.

    Groups play no part: one of equal rewards, or of a single rollout, is credited like any other. Rollouts without a reward
    (failed, or every source abstained) have left the step before.
    """

    gamma: float = option(1.0, help="discount γ per policy token", check=fraction)
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
        returns = [delta + values(rollout) for delta, rollout in zip(deltas, rollouts, strict=True)]
        return credited(groups, whitened(deltas) if self.whiten else deltas, returns)
