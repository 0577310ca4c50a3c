"""Hidden states of texts joined end to end: transformers' models with an attention that is told which tokens belong together.

Everything but attention works on each token by itself, so a batch of joined texts needs no padding, and a prompt that several texts
continue is computed once. All contact with transformers' choice of attention is here.

Axes: T tokens of a batch joined, Q query heads, K key/value heads, D head size, B rows padded to C columns, H hidden size.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask
from transformers.modeling_utils import AttentionInterface

from jackfield.pack import Packed, Piece

_log = logging.getLogger(__name__)

NAME = "jackfield_pieces"
UNKNOWN = frozenset({"softcap", "s_aux", "position_bias"})
"""What some models ask of their attention and the one here does not do."""


def packed_hidden(module: Any, packed: Packed) -> torch.Tensor:
    """[T, H] last hidden states, by attention within pieces."""
    device = next(module.parameters()).device
    ids_1T = packed.ids_T[None].to(device)
    outputs = module(
        input_ids=ids_1T,
        position_ids=packed.positions_T[None].to(device),
        attention_mask=torch.ones_like(ids_1T),  # nothing is padded; without it transformers would make a mask of the positions
        use_cache=False,
        pieces=packed.pieces,
    )
    hidden: torch.Tensor = outputs.last_hidden_state[0]
    return hidden


def padded_hidden(module: Any, packed: Packed) -> torch.Tensor:
    """[T, H] last hidden states, by padded rows. The mask says that nothing is padded: a right-padded end is causally behind what matters."""
    device = next(module.parameters()).device
    rows = packed.rows()
    ids_BC = rows.ids_BC.to(device)
    outputs = module(
        input_ids=ids_BC, position_ids=rows.positions_BC.to(device), attention_mask=torch.ones_like(ids_BC), use_cache=False
    )
    hidden: torch.Tensor = outputs.last_hidden_state[rows.row_T.to(device), rows.column_T.to(device)]
    return hidden


def can_pack(module: Any) -> bool:
    """Whether the model gives the same states for joined texts as for rows: tried on two short ones. From then on its attention is the one
    here, which without pieces is transformers' own."""
    before = module.config._attn_implementation
    if before not in ("sdpa", NAME):
        _log.info("trained on padded rows, which is slower: its attention is %r", before)
        return False
    module.set_attn_implementation(NAME)
    first = module.get_input_embeddings().weight
    ids = np.random.default_rng(0).integers(0, len(first), 16)
    nothing = torch.zeros(0, dtype=torch.int64)
    texts = Packed(
        ids_T=torch.from_numpy(ids),
        positions_T=torch.tensor([0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 4, 5, 6]),
        pieces=(Piece(length=7, after=None), Piece(length=4, after=None), Piece(length=2, after=1), Piece(length=3, after=1)),
        rollout_N=nothing, state_N=nothing, target_N=nothing,
    )  # fmt: skip
    try:
        with torch.no_grad(), torch.autocast(first.device.type, enabled=False):
            expected, found = padded_hidden(module, texts), packed_hidden(module, texts)
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        why = f"{type(error).__name__}: {error}"
    else:
        away = float((found - expected).abs().max() / expected.abs().max())
        if away < 1e-3:
            return True
        why = f"joined texts would give states {away:.2g} away"
    module.set_attn_implementation(before)
    _log.info("trained on padded rows, which is slower: %s", why)
    return False


def _attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    pieces: Sequence[Piece] | None = None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """[1, T, Q, D] attention of ``query`` [1, Q, T, D] over ``key``, ``value`` [1, K, T, D], within pieces."""
    if pieces is None:
        found: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, sliding_window=sliding_window, **options
        )
        return found
    if unknown := [name for name in sorted(UNKNOWN) if options.get(name) is not None]:
        raise NotImplementedError(f"its attention asks for {unknown[0]}")
    lengths = [piece.length for piece in pieces]
    keys, values = torch.split(key, lengths, 2), torch.split(value, lengths, 2)
    attended = []
    for number, (piece, queries) in enumerate(zip(pieces, torch.split(query, lengths, 2), strict=True)):
        own_key, own_value, before = keys[number], values[number], 0
        if piece.after is not None:
            before = lengths[piece.after]
            own_key = torch.cat([keys[piece.after], own_key], 2)
            own_value = torch.cat([values[piece.after], own_value], 2)
        mask = _visible(piece.length, before, sliding_window, query.device)
        attended.append(
            functional.scaled_dot_product_attention(
                queries, own_key, own_value, attn_mask=mask, is_causal=mask is None, scale=scaling, enable_gqa=True
            )
        )
    return torch.cat(attended, 2).transpose(1, 2).contiguous(), None


def _visible(length: int, before: int, window: int | None, device: torch.device) -> torch.Tensor | None:
    """[length, before + length] which tokens one sees; None for plain causal attention."""
    total = before + length
    if before == 0 and (window is None or window >= total):
        return None
    distance = torch.arange(before, total, device=device)[:, None] - torch.arange(total, device=device)
    return (distance >= 0) & (distance < (total if window is None else window))


AttentionInterface.register(NAME, _attention)
AttentionMaskInterface.register(NAME, sdpa_mask)
