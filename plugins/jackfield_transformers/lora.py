"""Low-rank adapters (LoRA, Hu et al. 2021) through peft."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

import torch

from jackfield.errors import Problem, RecipeError

_NAME = "default"


def attach(module: Any, *, rank: int, alpha: float, targets: tuple[str, ...], seed: int) -> Any:
    """Put adapters into ``module``'s layers, in place, and freeze everything else; gives the peft model around it.

    Raises RecipeError if no layer has a name in ``targets``.
    """
    try:
        from peft import LoraConfig
    except ImportError as error:
        raise RecipeError(Problem("", "model.lora_rank", "needs peft: pip install 'jackfield[lora]'")) from error
    config = LoraConfig(
        r=rank,
        lora_alpha=alpha,
        target_modules=list(targets) if targets else "all-linear",
        lora_dropout=0.0,
        bias="none",
        task_type="CAUSAL_LM",
    )
    return _attach(module, config, seed)


def attach_like(transformer: Any, adapter: Any, seed: int) -> None:
    """Put adapters of the same rank, scale and target layers as ``adapter`` has into a bare transformer, in place."""
    config = copy.deepcopy(adapter.peft_config[_NAME])
    config.task_type = None  # there is no language-model head
    config.target_modules = {
        name.rpartition(".")[2] for name in config.target_modules
    }  # peft has put the paths in ``adapter`` there
    _attach(transformer, config, seed)


def _attach(module: Any, config: Any, seed: int) -> Any:
    from peft import get_peft_model

    with torch.random.fork_rng(), warnings.catch_warnings():
        torch.manual_seed(seed)
        warnings.filterwarnings(
            "ignore", "`is_gradient_checkpointing` is deprecated", FutureWarning
        )  # peft asks transformers for it
        try:
            return get_peft_model(module, config)
        except ValueError as error:
            raise RecipeError(Problem("", "model.lora_targets", str(error))) from error


def has_adapters(module: Any) -> bool:
    """Whether any weight of ``module`` is an adapter's."""
    return any(".lora_" in name for name, _ in module.named_parameters())


def plain_weights(module: Any, *, merged: bool) -> dict[str, torch.Tensor]:
    """The state dict of a module without adapters that computes what ``module`` does with its adapters on (merged) or off.

    ``module`` is not touched: merging in place and back would not give the same bits.
    """
    from peft.tuners.lora import LoraLayer

    weights = {name.replace(".base_layer.", "."): value for name, value in module.state_dict().items() if ".lora_" not in name}
    for name, layer in module.named_modules():
        if merged and isinstance(layer, LoraLayer):
            weights[f"{name}.weight"] = (layer.base_layer.weight + layer.get_delta_weight(_NAME)).detach()
    return weights


def save(adapter: Any, folder: Path) -> None:
    """The adapters alone, in peft's own format."""
    adapter.save_pretrained(folder)


def restore(adapter: Any, folder: Path) -> None:
    """Take over, in place, the adapters that ``save`` wrote."""
    from peft import set_peft_model_state_dict
    from safetensors.torch import load_file

    set_peft_model_state_dict(adapter, load_file(folder / "adapter_model.safetensors"), adapter_name=_NAME)
