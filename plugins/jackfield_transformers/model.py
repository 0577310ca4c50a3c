"""A transformers causal LM as a policy or reference.

Axes: T tokens of a batch joined, N chosen ones, H hidden size, V vocabulary.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import nn

from jackfield.pack import Packed
from jackfield.stages import Tokenizer
from jackfield_transformers import lora, pieces
from jackfield_transformers.folder import quiet
from jackfield_transformers.head import Compute, head_alone
from jackfield_transformers.tokenizer import HfTokenizer

_ADAPTER = "adapter"


class Backbone:
    """The transformer below the language-model head, in the precision it is computed in."""

    def __init__(self, module: Any, compute: Compute) -> None:
        self.module = module
        self.compute = compute
        self._packs: bool | None = None

    @property
    def hidden_size(self) -> int:
        """H."""
        return int(self.module.config.hidden_size)

    @property
    def weight(self) -> nn.Parameter:
        """Some weight: where the model lives (device) and in what its weights are kept (dtype)."""
        weight: nn.Parameter = next(self.module.parameters())
        return weight

    def hidden(self, packed: Packed) -> torch.Tensor:
        """[T, H] last hidden states, after the final norm: without padding where the model's attention can be told of pieces, else by
        padded rows."""
        if self._packs is None:
            self._packs = pieces.can_pack(self.module)
        with self.precision():
            if self._packs:
                return pieces.packed_hidden(self.module, packed)
            return pieces.padded_hidden(self.module, packed)

    def precision(self) -> AbstractContextManager[Any]:
        """Matrix products in bfloat16 if so chosen; weights stay as they are."""
        if self.compute == "bfloat16":
            return torch.autocast(self.weight.device.type, torch.bfloat16)
        return nullcontext()

    def copy(self) -> Backbone:
        """One with weights of its own, equal now."""
        return Backbone(copy.deepcopy(self.module), self.compute)


class HfModel:
    """A ``stages.LanguageModel`` on a transformers causal LM, which is never in training mode: dropout is off.

    ``compute``: "bfloat16" computes products so; "float32" computes in the weights' own dtype (float64 weights: in float64).
    ``adapter``: the peft model around ``module`` if its layers hold LoRA adapters; ``adapter_on`` False computes without them.
    """

    def __init__(
        self, module: Any, tokenizer: HfTokenizer, *, compute: Compute = "float32", adapter: Any = None, adapter_on: bool = True
    ) -> None:
        self.module = module
        self.tokenizer: Tokenizer = tokenizer
        self._tokenizer = tokenizer
        self.policy_version = 0
        self._adapter = adapter
        self._adapter_on = adapter_on
        switch_to_evaluation(module)
        self.backbone = Backbone(module.base_model, compute)
        self._head = head_alone(module, compute)

    @property
    def compute(self) -> Compute:
        """The precision of matrix products."""
        return self.backbone.compute

    def hidden(self, packed: Packed) -> torch.Tensor:
        """[T, H] last hidden states of texts joined end to end."""
        with self._adapters():
            return self.backbone.hidden(packed)

    def logits(self, hidden_NH: torch.Tensor) -> torch.Tensor:
        """[N, V] at temperature 1, with all that this family does after its head (scaling, soft-capping), float32 or better."""
        with self._adapters(), self.backbone.precision():
            logits_NV: torch.Tensor = self._head(inputs_embeds=hidden_NH[None], use_cache=False).logits[0]
        return logits_NV

    def parameters(self) -> list[torch.nn.Parameter]:
        """What the optimizer moves: all weights, only the adapters with LoRA, nothing for a reference."""
        return [weight for weight in self.module.parameters() if weight.requires_grad and self._adapter_on]

    def weights(self) -> dict[str, torch.Tensor]:
        """Name → weight of a plain causal LM that computes the same: the live weights, or with LoRA new, merged ones."""
        if self._adapter is not None:
            return lora.plain_weights(self.module, merged=self._adapter_on)
        weights: dict[str, torch.Tensor] = self.module.state_dict()
        return weights

    def reference(self) -> HfModel:
        """This model as it is now, frozen: a copy, or with LoRA the same weights with the adapters off."""
        if self._adapter is not None:
            return HfModel(self.module, self._tokenizer, compute=self.compute, adapter=self._adapter, adapter_on=False)
        frozen = copy.deepcopy(self.module).requires_grad_(False)
        return HfModel(frozen, self._tokenizer, compute=self.compute)

    def save(self, folder: Path) -> None:
        """A transformers folder: config, weights as they are kept (safetensors), tokenizer.

        With LoRA the weights are merged and the adapters alone lie in ``adapter/``, which is what ``restore`` reads.
        """
        with quiet():
            self.module.save_pretrained(folder, state_dict=self.weights())
        self._tokenizer.save(folder)
        if self._adapter is not None:
            lora.save(self._adapter, folder / _ADAPTER)

    def restore(self, folder: Path) -> None:
        """Take over, in place and bit for bit, the weights that ``save`` wrote. Needs memory for a second copy while it runs."""
        if self._adapter is not None:
            lora.restore(self._adapter, folder / _ADAPTER)
            return
        with quiet():
            saved = type(self.module).from_pretrained(folder, dtype=self.backbone.weight.dtype)
        self.module.load_state_dict(saved.state_dict())

    def like_own(self, transformer: Any, seed: int) -> Backbone:
        """``transformer``, another model's, made ready as this model's own is: device, dtype, precision, checkpointing, and with
        LoRA new adapters in it, the only weights of it that move."""
        transformer.to(device=self.backbone.weight.device, dtype=self.backbone.weight.dtype)
        if self._adapter is not None:
            lora.attach_like(transformer, self._adapter, seed)
        if any(getattr(layer, "gradient_checkpointing", False) for layer in self.module.modules()):
            transformer.activation_checkpointing_enable({"use_reentrant": False})
        switch_to_evaluation(transformer)
        return Backbone(transformer, self.compute)

    @contextmanager
    def _adapters(self) -> Iterator[None]:
        with nullcontext() if self._adapter_on else self._adapter.disable_adapter():
            yield


def switch_to_evaluation(module: Any) -> None:
    """Dropout off and no id treated apart, with gradient checkpointing still at work.

    transformers checkpoints a layer only while that layer says it is training; attention and dropout inside it do not.
    An embedding's ``padding_idx`` would drop the gradient of a real token in models whose pad token is their EOS.
    """
    module.eval()
    for layer in module.modules():
        if getattr(layer, "gradient_checkpointing", False) and hasattr(layer, "_gradient_checkpointing_func"):
            layer.training = True
        if isinstance(layer, nn.Embedding):
            layer.padding_idx = None
