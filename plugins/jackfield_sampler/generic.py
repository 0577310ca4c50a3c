"""Any decoder-only model of transformers, run through its own forward pass with our cache.

Axes: R rows, T columns of the padded batch, S key positions, N tokens joined, K key/value heads, D head size, V vocabulary.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

import torch
from transformers.cache_utils import Cache

from jackfield.errors import Problem, UserError
from jackfield_sampler.batch import Batch
from jackfield_sampler.cache import KvCache

LAYER_TYPES = frozenset({"full_attention", "sliding_attention"})


class GenericNetwork:
    """Rows are padded on the left, so that the last column holds every row's last token and the model's own head gives its logits.

    The module itself is used where its dtype is the compute dtype, else a cast copy of it. LoRA layers run as they are.
    """

    def __init__(self, module: torch.nn.Module, dtype: torch.dtype) -> None:
        self._source: Any = base_model(module)
        self._config: Any = self._source.config
        _refuse_other_attention(self._config)
        self._is_copy = any(p.dtype != dtype for p in self._source.parameters())
        self._module: Any = _cast_copy(self._source, dtype) if self._is_copy else self._source
        self._dtype = dtype
        # transformers renamed the argument during version 5.
        self._cache_argument = "cache" if "cache" in inspect.signature(self._module.forward).parameters else "past_key_values"
        self.device: torch.device = next(self._source.parameters()).device
        self.cache = KvCache()

    @torch.no_grad()
    def refresh(self) -> None:
        if self._is_copy:
            for mine, theirs in zip(self._module.parameters(), self._source.parameters(), strict=True):
                mine.copy_(theirs)

    def forward(self, batch: Batch) -> torch.Tensor:
        """[R, V] logits after the last token of every row."""
        columns = max(len(row.ids) for row in batch.rows)
        ids_RT = torch.zeros(len(batch.rows), columns, dtype=torch.int64)
        position_RT = torch.zeros_like(ids_RT)
        real_RT = torch.zeros_like(ids_RT, dtype=torch.bool)
        for index, row in enumerate(batch.rows):
            pad = columns - len(row.ids)
            ids_RT[index, pad:] = torch.tensor(row.ids)
            position_RT[index, pad:] = torch.arange(row.start, row.end)
            real_RT[index, pad:] = True
        position_RT = position_RT.to(self.device)
        was_training = self._module.training
        if was_training:
            self._module.eval()  # dropout off; gradient checkpointing, where set, would also switch the cache off
        try:
            output = self._module(
                input_ids=ids_RT.to(self.device),
                position_ids=position_RT,
                attention_mask=self._masks(position_RT, max(row.end for row in batch.rows)),
                use_cache=True,
                logits_to_keep=1,
                **{self._cache_argument: _BatchCache(self.cache, batch, real_RT.to(self.device))},
            )
        finally:
            if was_training:
                self._module.train()
        logits: torch.Tensor = output.logits[:, -1]
        return logits

    def _masks(self, position_RT: torch.Tensor, length: int) -> torch.Tensor | dict[str, torch.Tensor]:
        """[R, 1, T, S] additive, one a kind of attention layer. A padded query stands at position 0 and sees only that."""
        key_S = torch.arange(length, device=self.device)
        back_RTS = position_RT[:, :, None] - key_S
        window = getattr(self._config, "sliding_window", None)
        full = self._additive(back_RTS >= 0)
        if window is None:
            return full
        sliding = self._additive((back_RTS >= 0) & (back_RTS < window))
        types = getattr(self._config, "layer_types", None)
        return sliding if types is None else {"full_attention": full, "sliding_attention": sliding}

    def _additive(self, visible_RTS: torch.Tensor) -> torch.Tensor:
        mask = torch.zeros(visible_RTS.shape, dtype=self._dtype, device=self.device)
        return mask.masked_fill_(~visible_RTS, torch.finfo(self._dtype).min)[:, None]


class _BatchCache(Cache):  # type: ignore[misc]
    """``KvCache`` as attention layers of transformers see it during one forward pass."""

    def __init__(self, cache: KvCache, batch: Batch, real_RT: torch.Tensor) -> None:
        super().__init__(layers=[])
        self._cache = cache
        self._batch = batch
        self._real_RT = real_RT
        self._slot_R = torch.tensor([row.slot for row in batch.rows], device=real_RT.device)
        self._length = max(row.end for row in batch.rows)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Store [R, K, T, D] new states, without padding, and give all states of the rows, each [R, K, S, D]."""
        new_keys, new_values = (states.transpose(1, 2)[self._real_RT] for states in (key_states, value_states))
        self._cache.write(layer_idx, self._batch.slot_N, self._batch.position_N, new_keys, new_values)
        keys, values = self._cache.layer(layer_idx)
        return keys[:, :, : self._length][self._slot_R], values[:, :, : self._length][self._slot_R]

    def get_seq_length(self, layer_idx: int = 0) -> int:  # noqa: ARG002
        return self._length


def base_model(module: torch.nn.Module) -> Any:
    """The transformers model inside a PEFT wrapper (its adapter layers stay in place), or the module itself."""
    unwrap = getattr(module, "get_base_model", None)
    return module if unwrap is None else unwrap()


def _cast_copy(module: torch.nn.Module, dtype: torch.dtype) -> torch.nn.Module:
    """A frozen copy whose parameters are cast one by one (never a second full-precision copy); ties stay tied, buffers keep their dtype."""
    cast: dict[int, Any] = {
        id(p): torch.nn.Parameter(p.detach().to(dtype, copy=True), requires_grad=False) for p in module.parameters()
    }
    return copy.deepcopy(module, cast)


def _refuse_other_attention(config: Any) -> None:
    others = sorted(set(getattr(config, "layer_types", None) or ()) - LAYER_TYPES)
    if others:
        raise UserError(
            Problem(
                "",
                "engine.use",
                f"torch cannot sample from {config.model_type} models: layers of type {', '.join(others)} have no slots",
            )
        )
