"""Stage three: the no-gradient passes that chosen components need, and the reward placed on tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from jackfield import pack
from jackfield.corridor import Named
from jackfield.logprobs import token_logp
from jackfield.stages import Critic, LanguageModel, Penalty
from jackfield.types import FloatArray, Group, Measured, Rollout, Scored, promote

if TYPE_CHECKING:
    import torch

    from jackfield.settings import Learn


def measure(
    groups: Sequence[Group[Scored]],
    *,
    needs: AbstractSet[str],
    policy: LanguageModel,
    reference: LanguageModel | None,
    critic: Critic | None,
    penalties: Sequence[Named[Penalty]],
    temperature: float,
    settings: Learn,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[Group[Measured]]:
    """The groups with what ``needs`` names (of ``old_logp``, ``ref_logp``, ``value``), then with ``token_reward``."""
    rollouts = [r for g in groups for r in g]
    passes = Passes(
        needs=needs, policy=policy, reference=reference, critic=critic, temperature=temperature, chunk=settings.logits_chunk
    )
    found: list[dict[str, object]] = [{} for _ in rollouts]
    if needs:
        to_the_end = "value" in needs
        batches = pack.plan([(r,) for r in rollouts], settings.tokens_per_microbatch, to_the_end=to_the_end)
        for number, batch in enumerate(batches):
            for index, values in zip(batch, passes.of([rollouts[i] for i in batch]), strict=True):
                found[index] = values
            progress(number + 1, len(batches))
    measured = [
        promote(Measured, rollout, token_reward=placed_reward(rollout), **values)
        for rollout, values in zip(rollouts, found, strict=True)
    ]
    for penalty in penalties:
        measured = [
            evolve(r, token_reward=r.token_reward - np.where(r.policy_mask, penalty.part.penalty(r), 0.0)) for r in measured
        ]
    members = iter(measured)
    return [Group(id=g.id, task=g.task, members=tuple(next(members) for _ in g)) for g in groups]


def placed_reward(rollout: Scored) -> FloatArray:
    """[L] what sources gave to a turn on that turn's last token, the rest of the reward on the rollout's last policy token, 0 elsewhere
    (wherever an observation may come after it)."""
    placed = np.zeros(len(rollout.tokens))
    written = np.flatnonzero(rollout.policy_mask)
    if not len(written) or rollout.reward is None:
        return placed
    placed[written[-1]] = rollout.reward
    for value, end in zip(rollout.turn_rewards or (), _ends_by_turn(rollout), strict=False):
        if end is not None:
            placed[end] += value
            placed[written[-1]] -= value
    return placed


def _ends_by_turn(rollout: Rollout) -> list[int | None]:
    """Index of every turn's last token; None for a turn without any that the policy is trained on."""
    ends = np.cumsum([len(s.tokens) for s in rollout.segments]) - 1
    return [
        int(end) if len(s.tokens) and rollout.policy_mask[end] else None
        for end, s in zip(ends, rollout.segments, strict=True)
        if s.writer == "policy"
    ]


class Passes:
    """The forward passes over one micro-batch. Each model runs once, whatever is needed of it."""

    def __init__(
        self,
        *,
        needs: AbstractSet[str],
        policy: LanguageModel,
        reference: LanguageModel | None,
        critic: Critic | None,
        temperature: float,
        chunk: int,
    ) -> None:
        self.needs = needs
        self.policy = policy
        self.reference = reference
        self.critic = critic
        self.temperature = temperature
        self.chunk = chunk

    def of(self, rollouts: Sequence[Rollout]) -> list[dict[str, object]]:
        """Per rollout the arrays by the field names of ``Measured``."""
        import torch

        with torch.no_grad():
            packed = pack.packed(rollouts, pack.the_end if "value" in self.needs else None)
            found: list[dict[str, object]] = [{} for _ in rollouts]
            if self.needs & {"old_logp", "value"}:
                hidden = policy_hidden(self.policy, self.critic, packed, logp="old_logp" in self.needs)
                if "old_logp" in self.needs:
                    self._store(found, "old_logp", rollouts, self._logp(self.policy, hidden, packed))
                if "value" in self.needs:
                    self._store_values(found, rollouts, packed, hidden)
            if "ref_logp" in self.needs:
                assert self.reference is not None
                hidden = at_states(self.reference, packed)
                self._store(found, "ref_logp", rollouts, self._logp(self.reference, hidden, packed))
        return found

    def _logp(self, model: LanguageModel, hidden: torch.Tensor, packed: pack.Packed) -> torch.Tensor:
        return token_logp(model, hidden, packed.target_N.to(hidden.device), temperature=self.temperature, chunk=self.chunk)[0]

    def _store(self, found: list[dict[str, object]], name: str, rollouts: Sequence[Rollout], values: torch.Tensor) -> None:
        if "value" in self.needs:  # one more state a rollout, its end
            values = values[pack.split_added(rollouts, pack.the_end)[0].to(values.device)]
        for slot, array in zip(found, pack.scatter(rollouts, values), strict=True):
            slot[name] = array

    def _store_values(
        self, found: list[dict[str, object]], rollouts: Sequence[Rollout], packed: pack.Packed, hidden: torch.Tensor
    ) -> None:
        assert self.critic is not None
        values = self.critic.values(packed, hidden)
        inside, ends = (where.to(values.device) for where in pack.split_added(rollouts, pack.the_end))
        for slot, array, end in zip(found, pack.scatter(rollouts, values[inside]), values[ends].tolist(), strict=True):
            slot["value"] = array
            slot["bootstrap_value"] = end


def policy_hidden(policy: LanguageModel, critic: Critic | None, packed: pack.Packed, *, logp: bool) -> torch.Tensor:
    """[N, H] the policy's hidden states if log-probs or the critic need them, else [N, 0]."""
    import torch

    if logp or getattr(critic, "reads_hidden", critic is not None):
        return at_states(policy, packed)
    return torch.zeros(len(packed.state_N), 0, device=policy.parameters()[0].device)


def at_states(model: LanguageModel, packed: pack.Packed) -> torch.Tensor:
    """[N, H] the model's hidden states where a policy token is predicted."""
    hidden_TH = model.hidden(packed)
    return hidden_TH[packed.state_N.to(hidden_TH.device)]
