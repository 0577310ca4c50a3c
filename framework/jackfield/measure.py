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
        batches = pack.plan([pack.row_length(r, to_the_end=to_the_end) for r in rollouts], settings.tokens_per_microbatch)
        for number, batch in enumerate(batches):
            for index, values in zip(batch, passes.of([rollouts[i] for i in batch]), strict=True):
                found[index] = values
            progress(number + 1, len(batches))
    measured = [
        promote(Measured, rollout, token_reward=outcome_reward(rollout), **values)
        for rollout, values in zip(rollouts, found, strict=True)
    ]
    for penalty in penalties:
        measured = [
            evolve(r, token_reward=r.token_reward - np.where(r.policy_mask, penalty.part.penalty(r), 0.0)) for r in measured
        ]
    members = iter(measured)
    return [Group(id=g.id, task=g.task, members=tuple(next(members) for _ in g)) for g in groups]


def outcome_reward(rollout: Scored) -> FloatArray:
    """[L] the rollout's reward on its last policy token, 0 elsewhere (wherever an observation may come after it)."""
    reward = np.zeros(len(rollout.tokens))
    written = np.flatnonzero(rollout.policy_mask)
    if len(written) and rollout.reward is not None:
        reward[written[-1]] = rollout.reward
    return reward


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
            rows = pack.rows(rollouts, to_the_end="value" in self.needs)
            found: list[dict[str, object]] = [{} for _ in rollouts]
            if self.needs & {"old_logp", "value"}:
                hidden = at_positions(self.policy, rows)
                if "old_logp" in self.needs:
                    self._store(found, "old_logp", rollouts, self._logp(self.policy, hidden, rows))
                if "value" in self.needs:
                    self._store_values(found, rollouts, rows, hidden)
            if "ref_logp" in self.needs:
                assert self.reference is not None
                hidden = at_positions(self.reference, rows)
                self._store(found, "ref_logp", rollouts, self._logp(self.reference, hidden, rows))
        return found

    def _logp(self, model: LanguageModel, hidden: torch.Tensor, rows: pack.Rows) -> torch.Tensor:
        return token_logp(model, hidden, rows.target_N.to(hidden.device), temperature=self.temperature, chunk=self.chunk)[0]

    def _store(self, found: list[dict[str, object]], name: str, rollouts: Sequence[Rollout], values: torch.Tensor) -> None:
        if "value" in self.needs:  # one more position a row, its end
            values, _ = _split_ends(rollouts, values)
        for slot, array in zip(found, pack.scatter(rollouts, values), strict=True):
            slot[name] = array

    def _store_values(
        self, found: list[dict[str, object]], rollouts: Sequence[Rollout], rows: pack.Rows, hidden: torch.Tensor
    ) -> None:
        assert self.critic is not None
        values = self.critic.values(rows.ids_BT, rows.positions_BT, rows.row_N, rows.column_N, hidden)
        inside, ends = _split_ends(rollouts, values)
        for slot, array, end in zip(found, pack.scatter(rollouts, inside), ends.tolist(), strict=True):
            slot["value"] = array
            slot["bootstrap_value"] = end


def at_positions(model: LanguageModel, rows: pack.Rows) -> torch.Tensor:
    """[N, H] the model's hidden states where a policy token is predicted."""
    hidden_BTH = model.hidden(rows.ids_BT, rows.positions_BT)
    return hidden_BTH[rows.row_N.to(hidden_BTH.device), rows.column_N.to(hidden_BTH.device)]


def _split_ends(rollouts: Sequence[Rollout], values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Values at policy positions and those at each row's end, which follow a row's policy positions."""
    import torch

    ends = torch.tensor(np.cumsum([r.num_policy_tokens + 1 for r in rollouts]) - 1)
    keep = torch.ones(len(values), dtype=torch.bool)
    keep[ends] = False
    return values[keep.to(values.device)], values[ends.to(values.device)]
