"""The engine ``torch``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, ClassVar, Literal

from attrs import define, field

from jackfield import machine
from jackfield.component import at_least, option
from jackfield.stages import LanguageModel, Session, Tokenizer
from jackfield.types import IntArray, Task

if TYPE_CHECKING:
    import torch

    from jackfield_sampler.batch import Network
    from jackfield_sampler.scheduler import Scheduler

log = logging.getLogger(__name__)


@define(kw_only=True, eq=False)
class TorchEngine:
    """Samples in this process from the policy's weights, for many rollouts at once.

    Rollouts that ask for tokens join and leave one running batch; each keeps its keys and values between its turns, and a group's
    prompt is computed once. What a rollout draws depends on its seed and on nothing else, up to the rounding of the dtype.
    """

    samples: ClassVar[bool] = True
    holds: ClassVar[str] = "a copy of the policy's weights to sample from, and the KV cache of the rollouts in flight"

    max_rows: int = option(64, help="rollouts computed at once; more wait for a place", check=at_least(1))
    dtype: Literal["auto", "bfloat16", "float32"] = option(
        "auto", help="to sample in; auto: as the policy computes, if it says so, else bfloat16 where the machine has it"
    )
    prefill_tokens: int = option(
        2048, help="tokens of prompts and observations computed at once; bounds memory, changes no result", check=at_least(1)
    )

    _scheduler: Scheduler | None = field(init=False, default=None)

    def start(self, policy: LanguageModel, tokenizer: Tokenizer) -> None:
        from jackfield_sampler.scheduler import Scheduler

        network = _network(policy.module, _dtype(self.dtype, policy))
        self._scheduler = Scheduler(network, tokenizer, max_rows=self.max_rows, prefill_tokens=self.prefill_tokens)
        self._scheduler.policy_version = policy.policy_version

    def refresh(self, policy_version: int) -> None:
        self._started().refresh(policy_version)

    def open(
        self,
        prompt: IntArray,
        *,
        task: Task,  # noqa: ARG002
        member: int,  # noqa: ARG002
        prefix: str,
        seed: int,
        temperature: float,
    ) -> Session:
        from jackfield_sampler.session import SamplerSession

        return SamplerSession(self._started(), prompt, prefix=prefix, seed=seed, temperature=temperature)

    def _started(self) -> Scheduler:
        if self._scheduler is None:
            raise RuntimeError("the engine has not been started")
        return self._scheduler


def _dtype(choice: str, policy: LanguageModel) -> torch.dtype:
    """For "auto" a policy may say by its attribute ``compute`` how it multiplies: "bfloat16", or "float32" for its weights' own dtype."""
    import torch

    weight = next(policy.module.parameters())
    if choice == "auto":
        native = weight.device.type != "cpu" or machine.cpu_multiplies_bfloat16()
        compute = getattr(policy, "compute", "bfloat16" if native else "float32")
        return torch.bfloat16 if compute == "bfloat16" else weight.dtype
    return torch.bfloat16 if choice == "bfloat16" else torch.float32


def _network(module: torch.nn.Module, dtype: torch.dtype) -> Network:
    from jackfield_sampler.generic import GenericNetwork
    from jackfield_sampler.llama import LlamaNetwork, why_not

    reason = why_not(module)
    if reason is None:
        return LlamaNetwork(module, dtype)
    log.info("sampling through the model's own forward pass, which is slower: %s", reason)
    return GenericNetwork(module, dtype)
