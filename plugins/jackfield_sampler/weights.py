"""The policy's weights in the dtype the sampler computes in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from attrs import frozen

from jackfield import machine

ROWS = 64
"""The number of rows oneDNN lays prepacked weights out for; other numbers work as well."""


@frozen(eq=False)
class Projection:
    """One or several linear layers over the same input, joined along their outputs."""

    weight: torch.Tensor
    bias: torch.Tensor | None
    prepacked: bool

    @classmethod
    def of(cls, linears: Sequence[torch.nn.Module], dtype: torch.dtype, *, prepack: bool) -> Projection:
        weight = torch.cat([merged_weight(linear) for linear in linears]).to(dtype).contiguous()
        biases: list[Any] = [getattr(linear, "base_layer", linear).bias for linear in linears]
        bias = None if biases[0] is None else torch.cat([b.detach() for b in biases]).to(dtype)
        if prepack:
            weight = torch.ops.mkldnn._reorder_linear_weight(weight, ROWS)
        return cls(weight, bias, prepack)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if not self.prepacked:
            return F.linear(x, self.weight, self.bias)
        out: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")
        return out


def prepackable(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether oneDNN has fast bfloat16 kernels here."""
    return device.type == "cpu" and dtype == torch.bfloat16 and torch._C._has_mkldnn and machine.cpu_multiplies_bfloat16()


def plain_linear(linear: Any) -> bool:
    """A linear layer, or one with plain LoRA (no DoRA or other variant, no bias in the adapter)."""
    if type(linear) is torch.nn.Linear:
        return True
    return (
        hasattr(linear, "get_delta_weight")
        and type(linear.base_layer) is torch.nn.Linear
        and not linear.lora_variant
        and not any(linear.lora_bias.values())
    )


def merged_weight(linear: Any) -> torch.Tensor:
    """The weight a linear layer computes with, active LoRA adapters added (Hu et al. 2021, eq. 3)."""
    weight: torch.Tensor = getattr(linear, "base_layer", linear).weight.detach()
    if type(linear) is torch.nn.Linear or linear.disable_adapters or linear.merged:
        return weight
    for name in linear.active_adapters:
        if name in linear.lora_A:
            weight = weight + linear.get_delta_weight(name).detach()
    return weight
