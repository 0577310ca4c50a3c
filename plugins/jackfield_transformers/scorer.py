"""Scores of sequences, in padded batches whose padding no score can see.

Axes: B rows, T tokens of a row, H hidden size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import nn

from jackfield.types import IntArray
from jackfield_transformers.head import Compute
from jackfield_transformers.model import Backbone, switch_to_evaluation
from jackfield_transformers.reward_checkpoint import RewardCheckpoint


class Scorer(Protocol):
    """Gives one score a sequence."""

    def scores(self, sequences: Sequence[IntArray]) -> list[float]:
        """One score each, of sequences computed together."""
        ...


def scorer(model: RewardCheckpoint, *, device: torch.device, compute: Compute) -> Scorer:
    """What computes a loaded reward model, moved to ``device``."""
    model.module.requires_grad_(False).to(device)
    switch_to_evaluation(model.module)
    backbone = Backbone(model.module, compute)
    return PooledScorer(backbone) if model.head is None else LastTokenScorer(backbone, model.head.requires_grad_(False).to(device))


class LastTokenScorer:
    """A causal transformer and a head, read at the last token: found by the sequence's length, never by its ids.

    Rows are padded on the right, which causal attention cannot see from the last token.
    """

    def __init__(self, backbone: Backbone, head: nn.Linear) -> None:
        self._backbone = backbone
        self._head = head

    def scores(self, sequences: Sequence[IntArray]) -> list[float]:
        """In the dtype of the head's weights (float32 or better)."""
        ids_BT, ends_B = _padded(sequences, 0)
        positions_BT = torch.arange(ids_BT.shape[1]).expand(ids_BT.shape)
        with torch.no_grad():
            hidden_BTH = self._backbone.hidden(ids_BT, positions_BT)
            hidden_BH = hidden_BTH[torch.arange(len(ends_B), device=hidden_BTH.device), ends_B.to(hidden_BTH.device)]
            scores_B1: torch.Tensor = self._head(hidden_BH.to(self._head.weight.dtype))
        return scores_B1[:, 0].tolist()


class PooledScorer:
    """A classifier that pools in its own way, such as an encoder at its first token. It is told by a mask what is padding."""

    def __init__(self, classifier: Backbone) -> None:
        self._classifier = classifier

    def scores(self, sequences: Sequence[IntArray]) -> list[float]:
        """As the classifier gives them, in float32 or better."""
        pad = getattr(self._classifier.module.config, "pad_token_id", None)
        ids_BT, ends_B = _padded(sequences, 0 if pad is None else pad)
        mask_BT = (torch.arange(ids_BT.shape[1]) <= ends_B[:, None]).long()
        device = self._classifier.weight.device
        with torch.no_grad(), self._classifier.precision():
            logits_B1 = self._classifier.module(input_ids=ids_BT.to(device), attention_mask=mask_BT.to(device)).logits
        scores: list[float] = logits_B1[:, 0].tolist()
        return scores


def _padded(sequences: Sequence[IntArray], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """[B, T] rows padded on the right, and [B] the column of each row's last token."""
    ids = np.full((len(sequences), max(map(len, sequences))), pad, np.int64)
    for row, sequence in zip(ids, sequences, strict=True):
        row[: len(sequence)] = sequence
    return torch.from_numpy(ids), torch.tensor([len(sequence) - 1 for sequence in sequences])
