"""Process-reward-model training."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from attrs import frozen

from jackfield.loss_batch import LossBatch, LossTerms

if TYPE_CHECKING:
    import torch

    from jackfield.corridor import Corridor

ROUNDING = 1e-4
"""By how much a label may leave [0, 1]: it comes out of a sum of rewards."""


@frozen(kw_only=True)
class StepCrossEntropy:
    """−y log p − (1 − y) log(1 − p) per step: p = σ(s), s the critic's score after the step's last token, y the step's label in [0, 1].

    A step is a turn of the policy (see the environment ``steps``). The score is of the *finished* step: it is read in the state that
    holds all of its tokens, and nothing of the next. The label is the estimator's ``returns`` at the step's last token; ``monte_carlo``
    with ``gamma = 0`` returns a turn's own reward there, which the source ``step_labels`` takes from the data. So that a label arrives as
    it was given, recipes are refused that change it on the way: another γ, a weight, a second reward, a penalty. Every step counts alike.

    Binary cross entropy on steps is how Lightman et al. 2023 (arXiv 2305.20050) and Math-Shepherd (Wang et al. 2024, arXiv 2312.08935,
    eq. 2) train process reward models; labels between 0 and 1 are the soft ones of the latter.

    Metrics, over steps: ``accuracy``, the share on the label's side of ½ (½ for a score of exactly 0); ``accuracy_right`` and
    ``accuracy_wrong``, the same of steps labelled above and below ½; ``right`` and ``wrong``, the mean p of either.
    """

    unit: ClassVar[Literal["turn"]] = "turn"
    needs: ClassVar[frozenset[str]] = frozenset({"score", "returns"})
    reads_policy: ClassVar[bool] = False

    def check_recipe(self, corridor: Corridor) -> list[str]:
        """Everything by which what it takes for a label would be something else."""
        wrong = []
        if getattr(corridor.advantage, "gamma", None) != 0:
            wrong.append(
                "takes a turn's own reward for the label of a step, and this advantage returns what later ones earn too; "
                'write [advantage] use = "monte_carlo", gamma = 0.0'
            )
        labelling = [reward for reward in corridor.rewards if reward.weight != 0 or reward.gate]
        if len(labelling) > 1:
            names = " and ".join(reward.name for reward in labelling)
            wrong.append(
                f"takes the reward for the label, and here it is made up of {names}; keep one, or give the others weight 0"
            )
        wrong += [
            f"takes the reward for the label, and {reward.name} is weighed by {reward.weight:g}; write weight = 1"
            for reward in labelling
            if len(labelling) == 1 and reward.weight != 1
        ]
        if corridor.penalties:
            names = " and ".join(penalty.name for penalty in corridor.penalties)
            wrong.append(f"takes the reward for the label, and {names} is taken off it; remove [[penalties]]")
        return wrong

    def terms(self, batch: LossBatch) -> LossTerms:
        """[S] terms. Raises ValueError for a label outside [0, 1]."""
        from torch.nn.functional import softplus

        if batch.turn_score_S is None or batch.return_N is None:
            raise ValueError("step_cross_entropy got no scores or returns, though it declares that it needs them")
        score_S, label_S = batch.turn_score_S, _labels(batch.return_N[batch.turn_end_S])
        found_S = score_S.detach()
        right_S, wrong_S = label_S > 0.5, label_S < 0.5
        accuracy_S = (found_S.sign() * (label_S - 0.5).sign() + 1) / 2
        metrics = {
            "accuracy": accuracy_S,
            "accuracy_right": accuracy_S[right_S],
            "accuracy_wrong": accuracy_S[wrong_S],
            "right": found_S.sigmoid()[right_S],
            "wrong": found_S.sigmoid()[wrong_S],
        }
        return LossTerms(term=softplus(score_S) - label_S * score_S, metrics=metrics)


def _labels(return_S: torch.Tensor) -> torch.Tensor:
    outside = (return_S < -ROUNDING) | (return_S > 1 + ROUNDING)
    if bool(outside.any()):
        raise ValueError(
            f"step_cross_entropy got the label {return_S[outside][0].item():.6g}, expected 0 to 1; a turn's label is its own reward where "
            '[advantage] use = "monte_carlo" has gamma = 0, and the reward "step_labels" has weight 1 and is the only one'
        )
    return return_S.clamp(0, 1)
