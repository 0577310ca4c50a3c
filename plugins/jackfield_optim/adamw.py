"""AdamW (Loshchilov & Hutter 2017) and the learning rate of every update."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

from jackfield.component import at_least, fraction, option, positive

if TYPE_CHECKING:
    import torch


def _betas(betas: tuple[float, ...]) -> str | None:
    if len(betas) == 2 and all(0 <= beta < 1 for beta in betas):
        return None
    return f"must be two numbers of at least 0 and below 1, found {list(betas)}"


def _optional_rate(rate: float | None) -> str | None:
    return None if rate is None else positive(rate)


def _optional_fraction(value: float | None) -> str | None:
    return None if value is None else fraction(value)


def _optional_count(value: int | None) -> str | None:
    return None if value is None else at_least(0)(value)


@frozen(kw_only=True)
class AdamW:
    """Decoupled weight decay, on all weights alike; first and second moments in the weights' dtype.

    The learning rate of update u (from 0) of N is ``lr`` times

    - (u + 1) / (W + 1) while u < W, W being the number of warm-up updates: no update is wasted at rate 0, and the first
      with the full rate is number W;
    - afterwards 1 for "constant", and for "linear" and "cosine" a curve that starts at 1 at update W and would reach
      ``min_ratio`` at update N, one after the last.
    """

    lr: float = option(help="peak learning rate of the policy", check=positive)
    critic_lr: float | None = option(None, help="peak learning rate of the critic; None: lr", check=_optional_rate)
    betas: tuple[float, ...] = option((0.9, 0.999), help="decay of the first and second moment", check=_betas)
    eps: float = option(1e-8, help="added to the root of the second moment", check=positive)
    weight_decay: float = option(0.0, help="weights shrink by lr × weight_decay every update", check=at_least(0))
    warmup_updates: int = option(
        0, help="updates with a rising rate; the longer of this and warmup_fraction counts", check=at_least(0)
    )
    warmup_fraction: float = option(0.0, help="the same, as a part of all updates of the run", check=fraction)
    critic_warmup_updates: int | None = option(None, help="the critic's; None: warmup_updates", check=_optional_count)
    critic_warmup_fraction: float | None = option(None, help="the critic's; None: warmup_fraction", check=_optional_fraction)
    schedule: Literal["constant", "linear", "cosine"] = option("constant", help="the rate after warm-up")
    min_ratio: float = option(0.0, help="what linear and cosine fall to, as a part of the peak rate", check=fraction)

    def build(self, policy: Iterable[torch.nn.Parameter], critic: Iterable[torch.nn.Parameter]) -> torch.optim.Optimizer:
        """Groups ``policy`` and, if not empty, ``critic``; one fused kernel a tensor."""
        import torch

        groups: list[dict[str, Any]] = [
            {"name": name, "params": parameters, "lr": self._peak(name)}
            for name, given in (("policy", policy), ("critic", critic))
            if (parameters := list(given))
        ]
        return torch.optim.AdamW(
            groups, lr=self.lr, betas=(self.betas[0], self.betas[1]), eps=self.eps, weight_decay=self.weight_decay, fused=True
        )

    def learning_rate(self, group: str, update: int, num_updates: int) -> float:
        """For the named group at update number ``update`` (from 0) of ``num_updates``."""
        warmup = self._warmup(group, num_updates)
        if update < warmup:
            return self._peak(group) * (update + 1) / (warmup + 1)
        done = min(1.0, (update - warmup) / max(1, num_updates - warmup))
        return self._peak(group) * (self.min_ratio + (1 - self.min_ratio) * self._remaining(done))

    def _remaining(self, done: float) -> float:
        """From 1 to 0 as ``done`` goes from 0 to 1."""
        if self.schedule == "linear":
            return 1 - done
        if self.schedule == "cosine":
            return (1 + math.cos(math.pi * done)) / 2
        return 1.0

    def _peak(self, group: str) -> float:
        return self.critic_lr if group == "critic" and self.critic_lr is not None else self.lr

    def _warmup(self, group: str, num_updates: int) -> int:
        updates, part = self.warmup_updates, self.warmup_fraction
        if group == "critic":
            updates = updates if self.critic_warmup_updates is None else self.critic_warmup_updates
            part = part if self.critic_warmup_fraction is None else self.critic_warmup_fraction
        return max(updates, round(part * num_updates))
