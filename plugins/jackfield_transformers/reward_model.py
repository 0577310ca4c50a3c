"""The reward ``reward_model``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import define

from jackfield.component import option, positive
from jackfield.types import IntArray, Rollout, Verdict
from jackfield_transformers.neural_reward import NeuralReward

if TYPE_CHECKING:
    from jackfield_transformers.reading import Reader
    from jackfield_transformers.reward_checkpoint import RewardCheckpoint


@define(kw_only=True, eq=False)
class RewardModel(NeuralReward):
    """What a neural reward model makes of the whole conversation: its score at the last token, (score − ``mean``) / ``std``.

    ``path`` is one of

    - a checkpoint of a run that trained a critic on pairs: a recipe with ``[critic] use = "value_head"`` and
      ``[[losses]] use = "bradley_terry"``; written as ``from = "that_recipe.toml"``, that recipe is run first where need be;
    - a folder or hub id of a transformers sequence classifier with one output. An encoder pools in its own way.

    If it has the policy's tokenizer and chat template it reads the rollout's ids as they are, otherwise the rollout's text.
    An input longer than the model was made for is an error, never cut.
    """

    mean: float = option(0.0, help="subtracted from every score, e.g. its mean over the policy's first answers")
    std: float = option(1.0, help="what remains is divided by it", check=positive)

    def _load(self) -> RewardCheckpoint:
        from jackfield_transformers.reward_checkpoint import read_reward_model

        return read_reward_model(self.path, subject="reward_model.path")

    def _read(self, reader: Reader, rollout: Rollout) -> tuple[IntArray, IntArray]:
        ids = reader.ids(rollout)
        return ids, np.array([len(ids) - 1])

    def _verdict(self, scores: list[float], length: int) -> Verdict:
        [score] = scores
        return Verdict.score((score - self.mean) / self.std, reason=f"scored {score:.4g} ({length} tokens)")
