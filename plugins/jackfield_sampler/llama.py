"""The Llama family (Llama, SmolLM, Mistral, Qwen2 and 2.5) without padding: fused, prepacked projections and attention over slots.

Axes: N tokens of a batch joined, R rows, E hidden size, H query heads, K key/value heads, G = H / K, D head size, C key positions.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from attrs import frozen

from jackfield_sampler.batch import Batch
from jackfield_sampler.cache import KvCache
from jackfield_sampler.generic import base_model
from jackfield_sampler.spans import Span, spans
from jackfield_sampler.weights import Projection, plain_linear, prepackable

ARCHITECTURES = frozenset({"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM"})
ROPES = frozenset({"default", "linear", "llama3", "yarn"})
"""Kinds of rotary embedding whose angles do not depend on the length of the sequence."""


def why_not(module: torch.nn.Module) -> str | None:
    """Why ``LlamaNetwork`` cannot run this model, in words; None if it can."""
    model: Any = base_model(module)
    config = model.config
    rope = config.rope_parameters.get("rope_type") if getattr(config, "rope_parameters", None) else None
    if type(model).__name__ not in ARCHITECTURES:
        return f"{type(model).__name__} is not of the Llama family"
    if getattr(config, "sliding_window", None) is not None:
        return f"its attention has a sliding window of {config.sliding_window}"
    if config.hidden_act != "silu":
        return f"its activation is {config.hidden_act}"
    if rope not in ROPES:
        return f"its rotary embedding is of type {rope}"
    linears = [linear for layer in model.model.layers for linear in (*_attention(layer), *_mlp(layer))]
    if (
        not all(plain_linear(linear) for linear in (*linears, model.lm_head))
        or type(model.model.embed_tokens) is not torch.nn.Embedding
    ):
        return "some of its projections are neither linear layers nor plain LoRA"
    return None


@frozen(eq=False)
class _Layer:
    """Weights of one decoder layer: projections in the compute dtype, norms in float32 or better."""

    norm: torch.Tensor
    qkv: Projection
    out: Projection
    mlp_norm: torch.Tensor
    gate_up: Projection
    down: Projection


class LlamaNetwork:
    """Holds its own copy of the weights, LoRA merged, with q, k, v and gate, up joined.

    In bfloat16 only products and attention are; what runs from layer to layer, the norms and the rotation are in float32, as they
    are in a trainer under autocast: the mean difference between the sampler's log-probs and the trainer's falls by a third.
    Where oneDNN has bfloat16 kernels the projections are reordered for them (the same numbers, up to 2 × faster on few rows).
    """

    def __init__(self, module: torch.nn.Module, dtype: torch.dtype) -> None:
        self._source: Any = base_model(module)
        config: Any = self._source.config
        self._dtype = dtype
        self._stream = torch.promote_types(dtype, torch.float32)
        self._eps: float = config.rms_norm_eps
        self._heads: int = config.num_attention_heads
        self._kv_heads: int = config.num_key_value_heads
        self._size: int = self._source.model.layers[0].self_attn.head_dim
        self.device: torch.device = self._source.model.embed_tokens.weight.device
        self._prepack = prepackable(self.device, dtype)
        self.cache = KvCache()
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Layer by layer, so that old and new weights are never both held whole."""
        model = self._source.model
        self._layers: list[_Layer] = getattr(self, "_layers", [None] * len(model.layers))
        for index, layer in enumerate(model.layers):
            query, key, value, out = _attention(layer)
            gate, up, down = _mlp(layer)
            self._layers[index] = _Layer(
                norm=self._kept(layer.input_layernorm.weight),
                qkv=self._projection(query, key, value),
                out=self._projection(out),
                mlp_norm=self._kept(layer.post_attention_layernorm.weight),
                gate_up=self._projection(gate, up),
                down=self._projection(down),
            )
        self._norm = self._kept(model.norm.weight)
        self._embedding = self._kept(model.embed_tokens.weight)
        self._head = self._projection(self._source.lm_head)

    def forward(self, batch: Batch) -> torch.Tensor:
        """[R, V] logits after the last token of every row."""
        x_NE = self._embedding[batch.ids_N]
        cos_1ND, sin_1ND = self._source.model.rotary_emb(x_NE, batch.position_N[None])
        rotation = (cos_1ND[0, :, None], _signed(sin_1ND[0, :, None]))
        plan = spans(batch.rows, self._dtype, self.device)
        for index, layer in enumerate(self._layers):
            attended = self._attend(index, layer, self._normed(x_NE, layer.norm), rotation, batch, plan)
            x_NE += layer.out(attended)
            gate, up = layer.gate_up(self._normed(x_NE, layer.mlp_norm)).chunk(2, -1)
            x_NE += layer.down(F.silu(gate).mul_(up))
        last_R = torch.tensor([len(row.ids) for row in batch.rows], device=self.device).cumsum(0) - 1
        return self._head(self._normed(x_NE[last_R], self._norm))

    def _attend(
        self,
        index: int,
        layer: _Layer,
        x_NE: torch.Tensor,
        rotation: tuple[torch.Tensor, torch.Tensor],
        batch: Batch,
        plan: list[Span],
    ) -> torch.Tensor:
        """[N, H·D] attention of the new tokens over everything in their slots, new keys and values stored."""
        heads, kv_heads = self._heads, self._kv_heads
        qkv = layer.qkv(x_NE).view(len(x_NE), heads + 2 * kv_heads, self._size)
        turned = _rotate(qkv[:, : heads + kv_heads].to(self._stream, copy=True), *rotation).to(self._dtype)
        self.cache.write(index, batch.slot_N, batch.position_N, turned[:, heads:], qkv[:, heads + kv_heads :])
        keys, values = self.cache.layer(index)
        out = [
            _span_attention(
                span, turned[span.tokens, :heads], keys[span.slots, :, : span.length], values[span.slots, :, : span.length]
            )
            for span in plan
        ]
        return out[0] if len(out) == 1 else torch.cat(out)

    def _normed(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Root-mean-square norm (Zhang and Sennrich 2019), in the stream's dtype, ready for a projection."""
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        scale = torch.rsqrt(norm.square() / x.shape[-1] + self._eps)
        return (x * scale).mul_(weight).to(self._dtype)

    def _kept(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.detach().to(self._stream, copy=True)

    def _projection(self, *linears: torch.nn.Module) -> Projection:
        return Projection.of(linears, self._dtype, prepack=self._prepack)


def _span_attention(span: Span, query_NHD: torch.Tensor, keys_RKCD: torch.Tensor, values_RKCD: torch.Tensor) -> torch.Tensor:
    """[N, H·D]. Rows of one token are attended together, the heads of a group as the queries of its key head; a longer row alone."""
    tokens, heads, size = query_NHD.shape
    kv_heads = keys_RKCD.shape[1]
    if span.single:
        query = query_NHD.reshape(tokens, kv_heads, heads // kv_heads, size)
        out = F.scaled_dot_product_attention(query, keys_RKCD, values_RKCD, attn_mask=span.mask)
    else:
        query = query_NHD.transpose(0, 1)[None]
        out = F.scaled_dot_product_attention(
            query, keys_RKCD, values_RKCD, attn_mask=span.mask, is_causal=span.mask is None, enable_gqa=True
        )
        out = out.transpose(1, 2)
    return out.reshape(tokens, heads * size)


def _rotate(x_NHD: torch.Tensor, cos: torch.Tensor, signed_sin: torch.Tensor) -> torch.Tensor:
    """Rotary embedding (Su et al. 2021), halves as pairs; overwrites ``x_NHD``."""
    half = x_NHD.shape[-1] // 2
    swapped = torch.cat((x_NHD[..., half:], x_NHD[..., :half]), -1)
    return x_NHD.mul_(cos).addcmul_(swapped, signed_sin)


def _signed(sin: torch.Tensor) -> torch.Tensor:
    half = sin.shape[-1] // 2
    return torch.cat((-sin[..., :half], sin[..., half:]), -1)


def _attention(layer: Any) -> tuple[torch.nn.Module, ...]:
    attention = layer.self_attn
    return attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj


def _mlp(layer: Any) -> tuple[torch.nn.Module, ...]:
    return layer.mlp.gate_proj, layer.mlp.up_proj, layer.mlp.down_proj
