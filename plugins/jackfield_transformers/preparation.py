"""The recipe keys that every model source here shares: how a causal LM is computed and which of its weights move."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

from jackfield import machine
from jackfield.component import at_least, option, positive

if TYPE_CHECKING:
    import torch

    from jackfield_transformers.model import HfModel

_log = logging.getLogger(__name__)


def chosen_device(choice: Literal["auto", "cpu", "cuda"]) -> str:
    """What the recipe key ``device`` means here."""
    import torch

    if choice == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return choice


def chosen_compute(choice: Literal["auto", "bfloat16", "float32"], device: torch.device) -> Literal["bfloat16", "float32"]:
    """What the recipe key ``compute`` means on ``device``."""
    if choice != "auto":
        return choice
    return "bfloat16" if device.type == "cuda" or machine.cpu_multiplies_bfloat16() else "float32"


@frozen(kw_only=True)
class Preparation:
    """Makes a loaded causal LM ready for training. Dropout is always off, so that old and new log-probs are of the same network."""

    compute: Literal["auto", "bfloat16", "float32"] = option(
        "auto",
        help="precision of matrix products (weights stay float32); auto: bfloat16 where the hardware multiplies it, else float32",
    )
    device: Literal["auto", "cpu", "cuda"] = option("auto", help="auto: cuda if torch finds one, else cpu")
    gradient_checkpointing: bool = option(
        False, help="recompute activations in the backward pass: less memory, about 1.3 × the time"
    )
    lora_rank: int = option(
        0, help="train low-rank adapters of this rank (LoRA) instead of all weights; 0: all weights", check=at_least(0)
    )
    lora_alpha: float = option(32.0, help="adapters are scaled by lora_alpha / lora_rank", check=positive)
    lora_targets: tuple[str, ...] = option((), help="names of the layers that get adapters; empty: every linear layer but the head")
    lora_seed: int = option(0, help="seed of the adapters' initial weights")

    def prepare(self, module: Any, tokenizer: Any) -> HfModel:
        """The model as the corridor wants it, on its device; ``module`` is a transformers causal LM with float32 weights."""
        import torch

        from jackfield_transformers.model import HfModel

        device = torch.device(chosen_device(self.device))
        compute = chosen_compute(self.compute, device)
        module.to(device)
        adapter = self._adapter(module)
        if self.gradient_checkpointing:
            module.activation_checkpointing_enable({"use_reentrant": False})
        model = HfModel(module, tokenizer, compute=compute, adapter=adapter)
        _log.info("%s on %s, computed in %s", type(module).__name__, device, compute)
        return model

    def _adapter(self, module: Any) -> Any:
        """The peft model around ``module``, whose layers it replaced in place; None without LoRA."""
        if self.lora_rank == 0:
            return None
        from jackfield_transformers import lora

        return lora.attach(module, rank=self.lora_rank, alpha=self.lora_alpha, targets=self.lora_targets, seed=self.lora_seed)
