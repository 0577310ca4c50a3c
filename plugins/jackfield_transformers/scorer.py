"""Scores of sequences, computed together without seeing one another or any padding.

Axes: T tokens of a batch joined, N chosen ones, H hidden size, B rows, C columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import nn

from jackfield import pack
from jackfield.types import IntArray
from jackfield_transformers.head import Compute
from jackfield_transformers.model import Backbone, switch_to_evaluation
from jackfield_transformers.reward_checkpoint import RewardCheckpoint

Read = tuple[IntArray, IntArray]
"""[L] ids, and after which of them a score is asked for."""


class Scorer(Protocol):
    """Gives the scores of a sequence."""

    def scores(self, sequences: Sequence[Read]) -> list[list[float]]:
        """Those asked for, of sequences computed together."""
        ...


def scorer(model: RewardCheckpoint, *, device: torch.device, compute: Compute) -> Scorer:
    """What computes a loaded reward model, moved to ``device``."""
    model.module.requires_grad_(False).to(device)
    switch_to_evaluation(model.module)
    backbone = Backbone(model.module, compute)
    return PooledScorer(backbone) if model.head is None else TokenScorer(backbone, model.head.requires_grad_(False).to(device))


class TokenScorer:
    """A causal transformer and a head, read after tokens that are told by their place, never found by ids."""

    def __init__(self, backbone: Backbone, head: nn.Linear) -> None:
        self._backbone = backbone
        self._head = head

    def scores(self, sequences: Sequence[Read]) -> list[list[float]]:
        """In the dtype of the head's weights (float32 or better)."""
        packed = pack.joined([ids for ids, _ in sequences], [places for _, places in sequences])
        with torch.no_grad():
            hidden_TH = self._backbone.hidden(packed)
            hidden_NH = hidden_TH[packed.state_N.to(hidden_TH.device)]
            scores_N1: torch.Tensor = self._head(hidden_NH.to(self._head.weight.dtype))
        return [scores.tolist() for scores in torch.split(scores_N1[:, 0], [len(places) for _, places in sequences])]


class PooledScorer:
    """A classifier that pools in its own way, such as an encoder at its first token. It is told by a mask what is padding."""

    def __init__(self, classifier: Backbone) -> None:
        self._classifier = classifier

    def scores(self, sequences: Sequence[Read]) -> list[list[float]]:
        """One each, wherever it is asked for, as the classifier gives them, in float32 or better."""
        pad = getattr(self._classifier.module.config, "pad_token_id", None)
        ids_BC, ends_B = _padded([ids for ids, _ in sequences], 0 if pad is None else pad)
        mask_BC = (torch.arange(ids_BC.shape[1]) <= ends_B[:, None]).long()
        device = self._classifier.weight.device
        with torch.no_grad(), self._classifier.precision():
            logits_B1 = self._classifier.module(input_ids=ids_BC.to(device), attention_mask=mask_BC.to(device)).logits
        return [[score] for score in logits_B1[:, 0].tolist()]


def _padded(sequences: Sequence[IntArray], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """[B, C] rows padded on the right, and [B] the column of each row's last token."""
    ids = np.full((len(sequences), max(map(len, sequences))), pad, np.int64)
    for row, sequence in zip(ids, sequences, strict=True):
        row[: len(sequence)] = sequence
    return torch.from_numpy(ids), torch.tensor([len(sequence) - 1 for sequence in sequences])
