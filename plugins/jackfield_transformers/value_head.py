"""A value function on a transformer.

Axes: B rows, T tokens of a row, N chosen positions (flat), H hidden size.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field

from jackfield.component import at_least, option
from jackfield.errors import Problem, RecipeError

if TYPE_CHECKING:
    import torch

    from jackfield.stages import LanguageModel

_FILE = "critic.safetensors"


@define(kw_only=True, eq=False)
class ValueHead:
    """V(s) = w · h(s) + b, with h the last hidden state of a transformer at the state's last token.

    With ``backbone`` = "own" the transformer is a copy of the policy's as it is at the start, trained by the value loss alone;
    under LoRA the copy has adapters of its own, and only they are trained. With "shared" it is the policy's: one pass less and
    no second copy, but the value loss pulls at the policy too, unless ``detach``.
    """

    backbone: Literal["own", "shared"] = option("own", help="own: a copy of the policy's transformer; shared: the policy's itself")
    detach: bool = option(False, help="with a shared backbone: keep the value loss from moving the policy")
    init_std: float = option(
        0.0, help="standard deviation of the head's first weights; 0: every value starts as 0", check=at_least(0)
    )

    _modules: Any = field(init=False, default=None, repr=False)
    """ModuleDict of ``head`` and, if own, ``backbone``: what is saved."""
    _own: Any = field(init=False, default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.detach and self.backbone == "own":
            raise ValueError("detach: means nothing with backbone = 'own'")

    def start(self, policy: LanguageModel, seed: int) -> None:
        """Copy the backbone, or measure it, and make the head. Raises RecipeError if ``policy`` is not a transformers model."""
        import torch

        from jackfield_transformers.model import HfModel

        if not isinstance(policy, HfModel):
            raise RecipeError(Problem("", "critic", f"value_head needs a transformers model, found {type(policy).__name__}"))
        source = policy.backbone
        head = torch.nn.Linear(source.hidden_size, 1, device="meta").to_empty(device="cpu").to(source.weight.dtype)
        torch.nn.init.normal_(head.weight, std=self.init_std, generator=torch.Generator().manual_seed(seed))
        torch.nn.init.zeros_(head.bias)
        self._modules = torch.nn.ModuleDict({"head": head.to(source.weight.device)})
        if self.backbone == "own":
            self._own = source.copy()
            self._modules["backbone"] = self._own.module

    def values(
        self, ids_BT: torch.Tensor, positions_BT: torch.Tensor, row_N: torch.Tensor, column_N: torch.Tensor, hidden_NH: torch.Tensor
    ) -> torch.Tensor:
        """[N] values, in the dtype of the head's weights (float32 or better)."""
        head = self._modules["head"]
        if self._own is not None:
            hidden_BTH = self._own.hidden(ids_BT, positions_BT)
            hidden_NH = hidden_BTH[row_N.to(hidden_BTH.device), column_N.to(hidden_BTH.device)]
        elif self.detach:
            hidden_NH = hidden_NH.detach()
        values_N1: torch.Tensor = head(hidden_NH.to(head.weight.dtype))
        return values_N1.squeeze(-1)

    def parameters(self) -> list[torch.nn.Parameter]:
        """The head's, and what is trained of its own backbone."""
        return [weight for weight in self._modules.parameters() if weight.requires_grad]

    def save(self, folder: Path) -> None:
        """``critic.safetensors``."""
        from safetensors.torch import save_model

        folder.mkdir(parents=True, exist_ok=True)
        save_model(self._modules, str(folder / _FILE))

    def restore(self, folder: Path) -> None:
        """Take over, in place and bit for bit, what ``save`` wrote."""
        from safetensors.torch import load_model

        load_model(self._modules, str(folder / _FILE))
