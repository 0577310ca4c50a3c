"""The last stage: credited rollouts become optimizer updates. The only place that divides a loss or calls backward.

Axes: N policy tokens of a micro-batch, R rollouts of a micro-batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from attrs import define

from jackfield import pack, seeds
from jackfield.corridor import Named
from jackfield.logprobs import token_logp
from jackfield.measure import at_positions
from jackfield.metrics import Means
from jackfield.stages import Critic, LanguageModel, Loss, LossBatch, Optimizer
from jackfield.types import Credited, Group

if TYPE_CHECKING:
    import torch

    from jackfield.settings import Learn


@define(kw_only=True, eq=False)
class Learner:
    """The policy (and critic) with their optimizer."""

    policy: LanguageModel
    critic: Critic | None
    losses: Sequence[Named[Loss]]
    optimizer: Optimizer
    torch_optimizer: torch.optim.Optimizer
    settings: Learn
    temperature: float
    seed: int
    num_updates: int
    """Of the whole run, for the learning-rate schedule."""
    update: int = 0

    def learn(
        self, groups: Sequence[Group[Credited]], *, step: int, progress: Callable[[int, int], None] = lambda _done, _total: None
    ) -> dict[str, float]:
        """epochs × minibatches optimizer updates from one step's rollouts; gives the metrics."""
        rollouts = [r for g in groups for r in g if r.num_policy_tokens]
        means = Means()
        done, tokens, total = 0, 0, self.settings.epochs * len(rollouts)
        for epoch in range(self.settings.epochs):
            for number, minibatch in enumerate(self._minibatches(rollouts, step, epoch)):
                first = epoch == 0 and number == 0
                tokens += self._update(minibatch, means, first_pass=epoch == 0, first_update=first)
                done += len(minibatch)
                progress(done, total)
        if not rollouts:
            means.add("learn/skipped_steps", 1.0)
        return {**means.report(), "learn/tokens": float(tokens)}

    def _minibatches(self, rollouts: Sequence[Credited], step: int, epoch: int) -> list[list[Credited]]:
        """An even split in an order of the epoch's own."""
        order = np.random.default_rng(seeds.derive(self.seed, "minibatches", step, epoch)).permutation(len(rollouts))
        pieces = np.array_split(order, self.settings.minibatches)
        return [[rollouts[i] for i in sorted(piece)] for piece in pieces if len(piece)]

    def _update(self, rollouts: Sequence[Credited], means: Means, *, first_pass: bool, first_update: bool) -> int:
        """One optimizer update; gives the number of tokens computed."""
        import torch

        weights = Weights(rollouts, self.settings)
        losses = [named for named in self.losses if named.weight != 0]
        computed = [r for r in rollouts if self._has_gradient(r)]
        batches = pack.plan([pack.row_length(r) for r in computed], self.settings.tokens_per_microbatch)
        for batch in batches:
            members = [computed[i] for i in batch]
            terms = self._forward(members, losses, means, first_pass=first_pass, first_update=first_update)
            objective = torch.zeros((), dtype=terms[0].dtype, device=terms[0].device)
            for named, term in zip(losses, terms, strict=True):
                weight = weights.of(members, named.part.unit, term)
                value = (term * weight).sum() / weights.total(named.part.unit)
                means.add(f"losses/{named.name}", value.detach(), 0.0)
                objective = objective + named.weight * value
            torch.autograd.backward(objective)
        for named in losses:
            means.add(f"losses/{named.name}", 0.0, 1.0)
        means.add("learn/computed_rollouts", len(computed), len(rollouts))
        self._step(means)
        return sum(pack.row_length(r) for r in computed)

    def _has_gradient(self, rollout: Credited) -> bool:
        """Whether the rollout can move anything: it still counts in every divisor if not, but is not computed."""
        silent = all(getattr(named.part, "silent_without_advantage", False) for named in self.losses if named.weight != 0)
        return not silent or bool(np.any(rollout.advantage[rollout.policy_mask] != 0))

    def _forward(
        self, rollouts: Sequence[Credited], losses: Sequence[Named[Loss]], means: Means, *, first_pass: bool, first_update: bool
    ) -> list[torch.Tensor]:
        """The undivided terms of every loss in use, on one micro-batch."""
        rows = pack.rows(rollouts)
        hidden = at_positions(self.policy, rows)
        logp, entropy = token_logp(
            self.policy,
            hidden,
            rows.target_N.to(hidden.device),
            temperature=self.temperature,
            chunk=self.settings.logits_chunk,
        )
        values = None
        if self.critic is not None:
            values = self.critic.values(rows.ids_BT, rows.positions_BT, rows.row_N, rows.column_N, hidden)
        batch = _loss_batch(rollouts, rows, logp, entropy, values)
        if first_pass:
            _policy_metrics(means, rollouts, batch, first_update=first_update)
        terms = []
        for named in losses:
            found = named.part.terms(batch)
            expected = batch.num_rollouts if named.part.unit == "rollout" else len(batch.logp_N)
            if tuple(found.term.shape) != (expected,):
                raise TypeError(
                    f"loss '{named.name}' gave terms of shape {tuple(found.term.shape)}; expected ({expected},), one a {named.part.unit}, "
                    "neither summed nor averaged"
                )
            terms.append(found.term)
            for name, per_unit in found.metrics.items():
                means.add_all(f"{named.name}/{name}", per_unit)
        return terms

    def _step(self, means: Means) -> None:
        import torch

        usable = any(p.grad is not None for group in self.torch_optimizer.param_groups for p in group["params"])
        for group in self.torch_optimizer.param_groups:  # policy and critic apart: one's gradient must not scale the other's
            norm = torch.nn.utils.clip_grad_norm_(group["params"], self.settings.max_grad_norm)
            usable = usable and bool(torch.isfinite(norm))
            means.add(f"grad_norm/{group['name']}", norm)
            group["lr"] = self.optimizer.learning_rate(group["name"], self.update, self.num_updates)
            means.add(f"learning_rate/{group['name']}", group["lr"])
        if usable:
            self.torch_optimizer.step()
        means.add("learn/skipped_updates", not usable)
        self.torch_optimizer.zero_grad(set_to_none=True)
        self.update += 1
        self.policy.policy_version = self.update


class Weights:
    """What every unit of a loss counts, and what the sum is divided by: fixed by the update's rollouts, before any micro-batch.

    =============  =======================  =============================
    aggregation    weight of a token        divided by
    =============  =======================  =============================
    token_mean     1                        tokens of the update
    sequence_mean  1 / tokens of rollout    rollouts of the update
    fixed_length   1                        rollouts × fixed_length
    =============  =======================  =============================

    A loss over rollouts counts every rollout once and is divided by the rollouts.
    """

    def __init__(self, rollouts: Sequence[Credited], settings: Learn) -> None:
        self._aggregation = settings.aggregation
        self._fixed_length = settings.fixed_length or 0
        self._num_rollouts = len(rollouts)
        self._num_tokens = sum(r.num_policy_tokens for r in rollouts)

    def of(self, rollouts: Sequence[Credited], unit: Literal["token", "rollout"], term: torch.Tensor) -> torch.Tensor:
        """The weight of every element of ``term``."""
        import torch

        if unit == "rollout" or self._aggregation != "sequence_mean":
            return torch.ones_like(term)
        lengths = np.array([r.num_policy_tokens for r in rollouts])
        return torch.from_numpy(np.repeat(1.0 / lengths, lengths)).to(term)

    def total(self, unit: Literal["token", "rollout"]) -> float:
        """The divisor."""
        if unit == "rollout" or self._aggregation == "sequence_mean":
            return self._num_rollouts
        return self._num_tokens if self._aggregation == "token_mean" else self._num_rollouts * self._fixed_length


def _loss_batch(
    rollouts: Sequence[Credited], rows: pack.Rows, logp: torch.Tensor, entropy: torch.Tensor, values: torch.Tensor | None
) -> LossBatch:
    def gathered(name: str) -> torch.Tensor | None:
        arrays = [getattr(r, name) for r in rollouts]
        return None if arrays[0] is None else pack.gather(rollouts, arrays, logp.dtype).to(logp.device)

    old_logp, advantage = gathered("old_logp"), gathered("advantage")
    assert advantage is not None
    return LossBatch(
        logp_N=logp,
        old_logp_N=logp.detach() if old_logp is None else old_logp,
        rollout_N=rows.row_N.to(logp.device),
        num_rollouts=len(rollouts),
        advantage_N=advantage,
        ref_logp_N=gathered("ref_logp"),
        entropy_N=entropy,
        value_N=values,
        old_value_N=gathered("value"),
        return_N=gathered("returns"),
    )


def _policy_metrics(means: Means, rollouts: Sequence[Credited], batch: LossBatch, *, first_update: bool) -> None:
    import torch

    logp = batch.logp_N.detach()
    assert batch.entropy_N is not None
    means.add_all("policy/entropy", batch.entropy_N)
    means.add_all("advantage/mean", batch.advantage_N)
    means.add_all("advantage/magnitude", batch.advantage_N.abs())
    sampled = pack.gather(rollouts, [r.sampled_logp for r in rollouts], logp.dtype).to(logp.device)
    known = torch.isfinite(sampled)  # recorded turns were not sampled
    if batch.ref_logp_N is not None:
        log_ratio = (batch.ref_logp_N - batch.old_logp_N).clamp(-20, 20)
        means.add_all("kl/reference", log_ratio.exp() - 1 - log_ratio)
    if first_update:
        means.add_all("policy/first_update_ratio", (logp - batch.old_logp_N).exp())
        means.add_all("policy/sampler_gap", (logp - sampled)[known].abs())
