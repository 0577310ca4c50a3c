"""The two members of a pair, side by side, and what every comparison of them reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from jackfield.loss_batch import LossBatch, LossTerms
from jackfield.types import Credited, Finish, Group, Measured, Segment, Task

if TYPE_CHECKING:
    import torch

    from jackfield.corridor import Corridor

NO_PAIRS = (
    "compares a preferred with a rejected member of every group, and this advantage does not leave one of each; "
    'write [advantage] use = "pairs"'
)


@frozen(kw_only=True, eq=False)
class Pairs:
    """A number of the preferred and of the other member of every group.

    A group is a pair if one of its members has a positive advantage and one a negative one; a tie, or a member left alone, is none:
    it has no term, and no part in the metrics.
    """

    chosen_G: torch.Tensor
    rejected_G: torch.Tensor
    is_pair_G: torch.Tensor
    """[G] bool."""

    @classmethod
    def of(cls, batch: LossBatch, values_R: torch.Tensor) -> Pairs:
        """Raises ValueError if a group has two members on one side."""
        preferred_R, other_R = batch.side_R > 0, batch.side_R < 0
        preferred_G, other_G = (batch.sum_by_group(side.to(values_R.dtype)) for side in (preferred_R, other_R))
        if bool(((preferred_G > 1) | (other_G > 1)).any()):
            raise ValueError(
                "a group has more than one member with a positive, or with a negative, advantage; a loss on pairs needs an advantage "
                "estimator that leaves one of each"
            )
        nothing = values_R.new_zeros(())
        return cls(
            chosen_G=batch.sum_by_group(values_R.where(preferred_R, nothing)),
            rejected_G=batch.sum_by_group(values_R.where(other_R, nothing)),
            is_pair_G=(preferred_G == 1) & (other_G == 1),
        )

    @property
    def margin_G(self) -> torch.Tensor:
        """[G] chosen − rejected."""
        return self.chosen_G - self.rejected_G

    def terms(self, term_G: torch.Tensor, called: str) -> LossTerms:
        """``term_G``, 0 for what is no pair, with the metrics of the pairs; ``called`` is the name of what is compared."""
        pairs = self.is_pair_G
        margin = self.margin_G.detach()[pairs]
        metrics = {
            "accuracy": (margin.sign() + 1) / 2,
            "margin": margin,
            f"{called}_chosen": self.chosen_G.detach()[pairs],
            f"{called}_rejected": self.rejected_G.detach()[pairs],
        }
        return LossTerms(term=term_G.where(pairs, term_G.new_zeros(())), metrics=metrics)


def log_ratio(batch: LossBatch) -> torch.Tensor:
    """[N] log π − log π_ref at every token, with gradient."""
    if batch.ref_logp_N is None:
        raise ValueError("got no log-probs of the reference, though they are declared as needed")
    return batch.logp_N - batch.ref_logp_N


def without_pairs(corridor: Corridor) -> list[str]:
    """What a loss over pairs finds wrong with a recipe: an advantage that leaves other groups than pairs.

    The estimator is asked, not known by name, for whichever leaves pairs will do: it is shown two groups, none of whose rewards are
    alike, so that a baseline over the whole step cannot look like a preference within a group.
    """
    size = corridor.run.group_size
    shown = [_group(number, range(number * size, (number + 1) * size)) for number in range(2)]
    if all(sorted(map(side, group)) == [-1, 1] for group in corridor.advantage.credit(shown)):
        return []
    return [NO_PAIRS]


def side(rollout: Credited) -> int:
    """+1 for the preferred member of a pair, −1 for the other, 0 for neither: the sign of its summed advantage, as ``batch.side_R``."""
    return int(np.sign(rollout.advantage[rollout.policy_mask].sum()))


def _group(number: int, rewards: Sequence[int]) -> Group[Measured]:
    task = Task(id=f"pairs/{number}", prompt=())
    return Group(id=task.id, task=task, members=tuple(_attempt(task, *numbered) for numbered in enumerate(rewards)))


def _attempt(task: Task, member: int, reward: int) -> Measured:
    """A prompt of one token and an answer of one, to which all models are indifferent."""
    nothing, token = np.zeros(2), np.ones(1, np.int64)
    return Measured(
        task=task,
        member=member,
        segments=(Segment(tokens=token, writer="task"), Segment(tokens=token, writer="policy")),
        finish=Finish(reason="eos"),
        verdicts={},
        reward=float(reward),
        token_reward=np.array([0.0, float(reward)]),
        old_logp=nothing,
        ref_logp=nothing,
        value=nothing,
    )
