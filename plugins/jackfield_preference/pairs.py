"""The two members of a pair, side by side, and what every comparison of them reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from jackfield.loss_batch import LossBatch, LossTerms

if TYPE_CHECKING:
    import torch


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
