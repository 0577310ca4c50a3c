"""From hidden states to logits: what a causal LM does after its backbone, alone.

Axes: N chosen positions (flat), H hidden size, V vocabulary.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import nn

Compute = Literal["bfloat16", "float32"]


def head_alone(module: Any, compute: Compute) -> Any:
    """``module``, a causal LM, with its backbone taken out, sharing everything else.

    Called with ``inputs_embeds`` = final hidden states it gives their logits through the family's own forward, float32 or better.
    """
    head = copy.copy(module)
    projection = module.get_output_embeddings()
    replaced = {module.base_model: _Given(), projection: _Projection(projection, compute)}
    head._modules = {name: replaced.get(child, child) for name, child in module._modules.items()}
    return head


class _Given(nn.Module):
    """Stands for the backbone whose result is known."""

    def forward(self, *_: Any, inputs_embeds: torch.Tensor, **__: Any) -> _LastHidden:
        return _LastHidden(inputs_embeds)


class _LastHidden:
    """A backbone's output with nothing in it but hidden states; families look for caches, attentions, router logits … too."""

    def __init__(self, hidden: torch.Tensor) -> None:
        self.last_hidden_state = hidden

    def __getitem__(self, _: int) -> torch.Tensor:
        return self.last_hidden_state

    def __getattr__(self, _: str) -> None:
        return None


class _Projection(nn.Module):
    """The projection to the vocabulary, whose result is never rounded to bfloat16.

    Logits of 30 are 0.125 apart in bfloat16: that rounding alone would move a log-prob by 0.03 on average, more than an update
    does. So under bfloat16 only the factors are rounded; sums and result are float32. It costs no more.
    """

    def __init__(self, inner: nn.Module, compute: Compute) -> None:
        super().__init__()
        self.inner = inner
        self.compute = compute

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        if self.compute == "bfloat16" and isinstance(self.inner, nn.Linear):
            logits: torch.Tensor = _WideProduct.apply(hidden.float(), self.inner.weight)  # type: ignore[no-untyped-call]
            return logits if self.inner.bias is None else logits + self.inner.bias
        out: torch.Tensor = self.inner(hidden)
        return out.float() if out.dtype == torch.bfloat16 else out


class _WideProduct(torch.autograd.Function):
    """hidden · weightᵀ for float32 tensors, factors rounded inside (bfloat16 on a CPU, TF32 on CUDA), float32 results."""

    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(hidden, weight)
        with _rounded_factors(hidden):
            return hidden @ weight.T

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        (gradient,) = gradients
        hidden, weight = ctx.saved_tensors
        with _rounded_factors(hidden):
            for_hidden = gradient @ weight if ctx.needs_input_grad[0] else None
            for_weight = gradient.flatten(0, -2).T @ hidden.flatten(0, -2) if ctx.needs_input_grad[1] else None
        return for_hidden, for_weight


@contextmanager
def _rounded_factors(tensor: torch.Tensor) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with torch.autocast(tensor.device.type, enabled=False):
            yield
    finally:
        torch.set_float32_matmul_precision(before)
