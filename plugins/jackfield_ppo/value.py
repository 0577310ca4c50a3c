"""The critic's loss."""

from __future__ import annotations

from typing import ClassVar, Literal

from attrs import frozen

from jackfield.component import option, positive
from jackfield.loss_batch import LossBatch, LossTerms


@frozen(kw_only=True)
class ValueClip:
    """½ max((V − R)², (clip(V, V_old ± clip) − R)²) per policy token: a critic that does not run away from its old values.

    R are the advantage estimator's ``returns``. As in PPO's reference implementation (its "value clipping"); the paper itself has
    the plain squared error, which is what ``clip`` unset gives.

    Metrics: ``clip_fraction``, the share of tokens whose term is the clipped one and so has no gradient; ``value``; ``return``;
    ``squared_error`` of the current values, not clipped.
    """

    clip: float | None = option(
        0.5,
        help="how far a value may move from its old one; unset: not clipped",
        check=lambda value: None if value is None else positive(value),
    )

    unit: ClassVar[Literal["token"]] = "token"
    needs: ClassVar[frozenset[str]] = frozenset({"value", "returns"})
    reads_policy: ClassVar[bool] = False

    def terms(self, batch: LossBatch) -> LossTerms:
        """[N] terms."""
        import torch

        assert batch.value_N is not None, "the core computes what a loss needs"
        assert batch.old_value_N is not None
        assert batch.return_N is not None
        value_N, old_value_N, return_N = batch.value_N, batch.old_value_N, batch.return_N
        error_N = (value_N - return_N).square()
        worst_N = error_N
        if self.clip is not None:
            clipped_N = old_value_N + (value_N - old_value_N).clamp(-self.clip, self.clip)
            worst_N = torch.maximum(error_N, (clipped_N - return_N).square())
        metrics = {
            "clip_fraction": (worst_N > error_N).to(value_N.dtype),
            "value": value_N.detach(),
            "return": return_N,
            "squared_error": error_N.detach(),
        }
        return LossTerms(term=0.5 * worst_N, metrics=metrics)
