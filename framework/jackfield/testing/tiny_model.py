"""A causal language model and critic small enough to be exact about: float64, one attention layer, no transformers.

For tests of losses, packing and learning: it does everything ``stages.LanguageModel`` asks of a policy.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from attrs import define, frozen
from torch import nn
from torch.nn import functional

from jackfield.pack import Packed
from jackfield.stages import LanguageModel
from jackfield.types import Credited, FloatArray, Group, IntArray, Message, Segment, Task, Verdict, Writer
from jackfield.types import Finish as _Finish


class TinyTransformer(nn.Module):
    """One layer of causal attention with learned positions, tied embeddings, H = 16."""

    def __init__(self, *, vocabulary: int = 23, positions: int = 64, seed: int = 0, dtype: torch.dtype = torch.float64) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)

        def weight(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype) * 0.3)

        self.tokens, self.places = weight(vocabulary, 16), weight(positions, 16)
        self.query, self.key, self.value, self.out = weight(16, 16), weight(16, 16), weight(16, 16), weight(16, 16)

    def forward(self, ids_BC: torch.Tensor, positions_BC: torch.Tensor) -> torch.Tensor:
        x = self.tokens[ids_BC] + self.places[positions_BC]
        attended = functional.scaled_dot_product_attention(x @ self.query, x @ self.key, x @ self.value, is_causal=True)
        return x + torch.tanh(attended @ self.out)


class NumberTokenizer:
    """Text is numbers: ``"3 14"`` ↔ ``[3, 14]``."""

    eos_id = 0
    eos_ids = frozenset({0})

    def encode(self, text: str) -> IntArray:
        return np.array([int(word) for word in text.split()], np.int64)

    def decode(self, ids: IntArray) -> str:
        return " ".join(map(str, ids))

    def chat(self, messages: Sequence[Message]) -> IntArray:
        return self.encode(" ".join(m.content for m in messages))


@define(eq=False)
class TinyModel:
    """``TinyTransformer`` as a policy or reference."""

    module: TinyTransformer
    tokenizer: NumberTokenizer
    policy_version: int = 0

    @classmethod
    def new(cls, seed: int = 0, dtype: torch.dtype = torch.float64) -> TinyModel:
        return cls(TinyTransformer(seed=seed, dtype=dtype), NumberTokenizer())

    def hidden(self, packed: Packed) -> torch.Tensor:
        rows = packed.rows()
        hidden_BCH: torch.Tensor = self.module(rows.ids_BC, rows.positions_BC)
        return hidden_BCH[rows.row_T, rows.column_T]

    def logits(self, hidden_NH: torch.Tensor) -> torch.Tensor:
        return hidden_NH @ self.module.tokens.T

    def parameters(self) -> list[nn.Parameter]:
        return list(self.module.parameters())

    def reference(self) -> TinyModel:
        return TinyModel(copy.deepcopy(self.module).requires_grad_(False), self.tokenizer)

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        torch.save(self.module.state_dict(), folder / "weights.pt")

    def restore(self, folder: Path) -> None:
        self.module.load_state_dict(torch.load(folder / "weights.pt", weights_only=True))


@define(eq=False)
class TinyCritic:
    """A linear head on the policy's hidden states."""

    head: nn.Linear | None = None

    def start(self, policy: LanguageModel, seed: int) -> None:
        dtype = policy.parameters()[0].dtype
        self.head = nn.Linear(16, 1, dtype=dtype)
        generator = torch.Generator().manual_seed(seed % 2**31)
        with torch.no_grad():
            for parameter in self.head.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.3)

    def values(self, packed: Packed, hidden_NH: torch.Tensor) -> torch.Tensor:
        assert self.head is not None
        values: torch.Tensor = self.head(hidden_NH).squeeze(-1)
        return values

    def parameters(self) -> list[nn.Parameter]:
        return list(self.head.parameters()) if self.head is not None else []

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        assert self.head is not None
        torch.save(self.head.state_dict(), folder / "head.pt")

    def restore(self, folder: Path) -> None:
        assert self.head is not None
        self.head.load_state_dict(torch.load(folder / "head.pt", weights_only=True))


@frozen
class Sgd:
    """Plain gradient descent, for steps that can be checked by hand."""

    lr: float = 0.1

    def build(self, policy: Sequence[nn.Parameter], critic: Sequence[nn.Parameter]) -> torch.optim.Optimizer:
        groups = [{"params": list(policy), "name": "policy"}]
        if critic:
            groups.append({"params": list(critic), "name": "critic"})
        return torch.optim.SGD(groups, lr=self.lr)

    def learning_rate(self, group: str, update: int, num_updates: int) -> float:
        return self.lr


def credited_rollout(
    pieces: Sequence[tuple[Writer, Sequence[int]]],
    *,
    seed: int = 0,
    task: Task | None = None,
    member: int = 0,
    hidden_fill: float = float("nan"),
) -> Credited:
    """A rollout of the given segments whose per-token arrays are random where the policy wrote and ``hidden_fill`` elsewhere.

    Example: ``credited_rollout([("task", [1, 2]), ("policy", [3, 4]), ("environment", [5]), ("policy", [0])])``
    """
    rng = np.random.default_rng(seed)
    segments = tuple(
        Segment(
            tokens=np.array(ids, np.int64),
            writer=writer,
            logp=rng.normal(-2, 0.3, len(ids)) if writer == "policy" else None,
        )
        for writer, ids in pieces
    )
    wrote = np.concatenate([np.full(len(ids), writer == "policy") for writer, ids in pieces])

    def noise(mean: float, scale: float) -> FloatArray:
        return np.where(wrote, rng.normal(mean, scale, len(wrote)), hidden_fill)

    return Credited(
        task=task or Task(id="tiny/0", prompt=()),
        member=member,
        segments=segments,
        finish=_Finish(reason="answer"),
        verdicts={"source": Verdict.score(1.0)},
        reward=1.0,
        token_reward=np.zeros(len(wrote)),
        old_logp=noise(-3, 0.5),
        ref_logp=noise(-3, 0.5),
        value=noise(0, 1),
        bootstrap_value=0.0,
        advantage=noise(0, 1),
        returns=noise(0, 1),
    )


def one_group_each(rollouts: Sequence[Credited]) -> list[Group[Credited]]:
    """Every rollout in a group of its own."""
    return [Group(id=str(i), task=r.task, members=(r,)) for i, r in enumerate(rollouts)]
