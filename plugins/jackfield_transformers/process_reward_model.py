"""The reward ``process_reward_model``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from math import exp
from typing import TYPE_CHECKING, Literal

from attrs import define

from jackfield.component import option
from jackfield.errors import Problem, RecipeError
from jackfield.types import IntArray, Rollout, Verdict
from jackfield_transformers.neural_reward import NeuralReward

if TYPE_CHECKING:
    from jackfield_transformers.reading import Reader
    from jackfield_transformers.reward_checkpoint import RewardCheckpoint

SUBJECT = "process_reward_model.path"


@define(kw_only=True, eq=False)
class ProcessRewardModel(NeuralReward):
    """How likely the steps of an answer are right, by a model trained on labels of steps: p = σ(its score after a step's last token).

    A step is a turn of the policy; the environment ``steps`` makes one of every line. ``path`` is a checkpoint of a run with
    ``[critic] use = "value_head"`` and ``[[losses]] use = "step_cross_entropy"``, best written as ``from = "that_recipe.toml"``.

    The score sums the steps up by ``over``: the least p, their product (Lightman et al. 2023 compare the two), the last one's, or the
    mean. It is made up of the turns: each is credited with what it changed of the number so far, for ``mean`` with its own share, so
    that ``gae`` and ``monte_carlo`` blame the step that went wrong.

    If it has the policy's tokenizer and chat template it reads the rollout's ids as they are, otherwise the rollout's text.
    """

    over: Literal["min", "product", "last", "mean"] = option("min", help="what is made of the steps' probabilities")

    def _load(self) -> RewardCheckpoint:
        from jackfield_transformers.reward_checkpoint import read_reward_model

        model = read_reward_model(self.path, subject=SUBJECT)
        if not model.trained_here:
            message = (
                f"{self.path!r} is a sequence classifier; expected the checkpoint of a run that trained a critic on labels of steps"
            )
            raise RecipeError(Problem("", SUBJECT, message))
        return model

    def _read(self, reader: Reader, rollout: Rollout) -> tuple[IntArray, IntArray]:
        return reader.turns(rollout)

    def _verdict(self, scores: list[float], length: int) -> Verdict:
        if not scores:
            return Verdict.abstain("the policy has said nothing")
        right = [_sigmoid(score) for score in scores]
        parts = self.parts(right)
        told = ", ".join(f"{p:.2f}" for p in right)
        return Verdict.score(sum(parts), reason=f"steps right by {told} ({length} tokens)", turns=parts, steps=float(len(right)))

    def parts(self, right: Sequence[float]) -> tuple[float, ...]:
        """What every step adds to the score, of their probabilities of being right."""
        if self.over == "mean":
            return tuple(p / len(right) for p in right)
        so_far = [*accumulate(right, _SO_FAR[self.over])]
        return (so_far[0], *(after - before for before, after in pairwise(so_far)))


def _sigmoid(score: float) -> float:
    return 1 / (1 + exp(-score)) if score >= 0 else exp(score) / (1 + exp(score))


_SO_FAR: dict[str, Callable[[float, float], float]] = {
    "min": min,
    "product": lambda before, p: before * p,
    "last": lambda before, p: p,  # noqa: ARG005
}
