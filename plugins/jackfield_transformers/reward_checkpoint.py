"""Reading a reward model: a checkpoint of a critic that was trained on pairs, or a transformers sequence classifier.

A checkpoint holds ``model/``, a causal LM folder, and ``critic/`` with the head. A critic with a transformer of its own holds that
too, and then ``model/`` gives only its architecture and tokenizer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from attrs import frozen
from torch import nn

from jackfield.errors import Problem, RecipeError
from jackfield_transformers.folder import folder_or_hub_id, read_causal_lm, read_classifier, read_tokenizer
from jackfield_transformers.tokenizer import HfTokenizer

CRITIC_FILE = "critic.safetensors"
MERGED_FILE = "merged.safetensors"
"""Beside it where the critic has adapters: the weights of a transformer without, which computes the same."""
_OWN = "backbone."


@frozen(kw_only=True, eq=False)
class RewardCheckpoint:
    """A reward model in memory, with weights in float32 on the CPU."""

    module: Any
    """The transformer that gives hidden states; without a ``head``, the whole classifier."""
    head: nn.Linear | None
    """From the last token's hidden state to the score. None: the classifier pools in its own way (an encoder)."""
    tokenizer: HfTokenizer
    trained_here: bool
    """It was trained on rollouts, whose ids end with the token that ends a turn."""

    @property
    def max_tokens(self) -> int:
        """The longest input it was made for."""
        text = self.module.config.get_text_config()
        return min(int(self.tokenizer.inner.model_max_length), int(getattr(text, "max_position_embeddings", 2**31)))


def read_reward_model(path: str, *, subject: str) -> RewardCheckpoint:
    """The reward model at ``path``. Raises RecipeError about the recipe key ``subject``, saying what is missing."""
    source = folder_or_hub_id(path)
    if source is None:
        message = f"{path!r} is neither a folder here nor a hub id (owner/name)"
        raise RecipeError(Problem("", subject, message))
    folder = Path(source)
    if (folder / "config.json").is_file() or not folder.is_dir():
        return _classifier(source, subject)
    missing = [name for name in ("model/config.json", f"critic/{CRITIC_FILE}") if not (folder / name).is_file()]
    if missing:
        raise RecipeError(Problem("", subject, f"{path!r} has no {' and no '.join(missing)}{_advice(folder)}"))
    return _trained_here(folder, subject)


def _advice(folder: Path) -> str:
    checkpoints = sorted((folder / "checkpoints").glob("step-*"))
    if checkpoints:
        return f"; it is the folder of a run, name one of its checkpoints, such as {checkpoints[-1]}"
    return (
        "; expected the checkpoint of a run with a [critic] trained on pairs (loss bradley_terry), "
        "or a transformers folder of a sequence classifier"
    )


def _trained_here(folder: Path, subject: str) -> RewardCheckpoint:
    from safetensors.torch import load_file

    merged = folder / "critic" / MERGED_FILE
    weights = load_file(merged if merged.is_file() else folder / "critic" / CRITIC_FILE)
    transformer = read_causal_lm(str(folder / "model"), torch.float32, subject=subject).base_model
    own = {name.removeprefix(_OWN): weight for name, weight in weights.items() if name.startswith(_OWN)}
    try:
        head = _linear(weights["head.weight"], weights["head.bias"])
        if own:
            transformer.load_state_dict(own)
    except (KeyError, RuntimeError) as error:
        message = f"{str(folder)!r} holds a critic that does not fit its model: {error}"
        raise RecipeError(Problem("", subject, message)) from error
    tokenizer = HfTokenizer(read_tokenizer(str(folder / "model"), subject=subject))
    return RewardCheckpoint(module=transformer, head=head, tokenizer=tokenizer, trained_here=True)


def _classifier(source: str, subject: str) -> RewardCheckpoint:
    """A decoder's classifier is its transformer and a projection ``score``, read at the last token. What transformers itself makes
    of it depends on ids: it takes the last one that is not the padding token, which may be the token that ended the answer."""
    module = read_classifier(source, torch.float32, subject=subject)
    tokenizer = HfTokenizer(read_tokenizer(source, subject=subject))
    projection = getattr(module, "score", None)
    if isinstance(projection, nn.Linear):
        return RewardCheckpoint(module=module.base_model, head=projection, tokenizer=tokenizer, trained_here=False)
    return RewardCheckpoint(module=module, head=None, tokenizer=tokenizer, trained_here=False)


def _linear(weight: torch.Tensor, bias: torch.Tensor) -> nn.Linear:
    head = nn.Linear(weight.shape[1], 1, device="meta").to_empty(device="cpu").to(weight.dtype)
    head.load_state_dict({"weight": weight, "bias": bias})
    return head
