"""A value function on a transformer.

Axes: T tokens of a batch joined, N chosen ones, H hidden size.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field

from jackfield.component import at_least, option
from jackfield.errors import Problem, RecipeError

if TYPE_CHECKING:
    import torch

    from jackfield.pack import Packed
    from jackfield.stages import LanguageModel
    from jackfield_transformers.model import Backbone, HfModel


@define(kw_only=True, eq=False)
class ValueHead:
    """V(s) = w · h(s) + b, with h the last hidden state of a transformer at the state's last token.

    With ``backbone`` = "own" the transformer is a copy of the policy's as it is at the start, trained by the value loss alone;
    under LoRA the copy has adapters of its own, and only they are trained. With "shared" it is the policy's: one pass less and
    no second copy, but the value loss pulls at the policy too, unless ``detach``.

    With ``path`` (or ``from``, the recipe that trains it) an own transformer and the head start as a reward model's, which may be
    of another size than the policy but must have its tokenizer.
    """

    backbone: Literal["own", "shared"] = option("own", help="own: a copy of the policy's transformer; shared: the policy's itself")
    detach: bool = option(False, help="with a shared backbone: keep the value loss from moving the policy")
    init_std: float = option(
        0.0, help="standard deviation of the head's first weights; 0: every value starts as 0", check=at_least(0)
    )
    path: str | None = option(
        None,
        help="start from this reward model: checkpoint of a run that trained it, or folder or hub id of a sequence classifier",
    )

    _modules: Any = field(init=False, default=None, repr=False)
    """ModuleDict of ``head`` and, if own, ``backbone``: what is saved."""
    _own: Any = field(init=False, default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.detach and self.backbone == "own":
            raise ValueError("detach: means nothing with backbone = 'own'")
        if self.path is not None and self.backbone == "shared":
            raise ValueError("path: means nothing with backbone = 'shared', which is the policy's; write backbone = 'own'")
        if self.path is not None and self.init_std:
            raise ValueError("init_std: means nothing with a path, which brings a trained head")

    @property
    def reads_hidden(self) -> bool:
        """Only a shared backbone is the policy's."""
        return self.backbone == "shared"

    def start(self, policy: LanguageModel, seed: int) -> None:
        """Copy the backbone, or measure it, and make the head. Raises RecipeError if ``policy`` is not a transformers model."""
        import torch

        from jackfield_transformers.model import HfModel

        if not isinstance(policy, HfModel):
            raise RecipeError(Problem("", "critic", f"value_head needs a transformers model, found {type(policy).__name__}"))
        self._own, head = self._copy(policy, seed) if self.path is None else self._reward_model(policy, self.path, seed)
        self._modules = torch.nn.ModuleDict({"head": head.to(policy.backbone.weight)})
        if self._own is not None:
            self._modules["backbone"] = self._own.module

    def _copy(self, policy: HfModel, seed: int) -> tuple[Backbone | None, torch.nn.Linear]:
        import torch

        source = policy.backbone
        head = torch.nn.Linear(source.hidden_size, 1, device="meta").to_empty(device="cpu").to(source.weight.dtype)
        torch.nn.init.normal_(head.weight, std=self.init_std, generator=torch.Generator().manual_seed(seed))
        torch.nn.init.zeros_(head.bias)
        return source.copy() if self.backbone == "own" else None, head

    def _reward_model(self, policy: HfModel, path: str, seed: int) -> tuple[Backbone, torch.nn.Linear]:
        from jackfield_transformers.reading import same_vocabulary
        from jackfield_transformers.reward_checkpoint import read_reward_model

        model = read_reward_model(path, subject="critic.path")
        if model.head is None:
            message = f"{path!r} is an encoder, which has no value of every token; expected a causal transformer"
            raise RecipeError(Problem("", "critic.path", message))
        if not same_vocabulary(model.tokenizer, policy.tokenizer):
            message = f"{path!r} has another tokenizer than the policy, whose ids a critic reads; expected the same vocabulary"
            raise RecipeError(Problem("", "critic.path", message))
        return policy.like_own(model.module, seed), model.head

    def values(self, packed: Packed, hidden_NH: torch.Tensor) -> torch.Tensor:
        """[N] values, in the dtype of the head's weights (float32 or better)."""
        head = self._modules["head"]
        if self._own is not None:
            hidden_TH = self._own.hidden(packed)
            hidden_NH = hidden_TH[packed.state_N.to(hidden_TH.device)]
        elif self.detach:
            hidden_NH = hidden_NH.detach()
        values_N1: torch.Tensor = head(hidden_NH.to(head.weight.dtype))
        return values_N1.squeeze(-1)

    def parameters(self) -> list[torch.nn.Parameter]:
        """The head's, and what is trained of its own backbone."""
        return [weight for weight in self._modules.parameters() if weight.requires_grad]

    def save(self, folder: Path) -> None:
        """``critic.safetensors``; with adapters also ``merged.safetensors``, what a reward model reads."""
        from safetensors.torch import save_file, save_model

        from jackfield_transformers import lora
        from jackfield_transformers.reward_checkpoint import CRITIC_FILE, MERGED_FILE

        folder.mkdir(parents=True, exist_ok=True)
        save_model(self._modules, str(folder / CRITIC_FILE))
        if lora.has_adapters(self._modules):
            merged = lora.plain_weights(self._modules, merged=True)
            save_file({name: weight.contiguous() for name, weight in merged.items()}, folder / MERGED_FILE)

    def restore(self, folder: Path) -> None:
        """Take over, in place and bit for bit, what ``save`` wrote."""
        from safetensors.torch import load_model

        from jackfield_transformers.reward_checkpoint import CRITIC_FILE

        load_model(self._modules, str(folder / CRITIC_FILE))
