"""The last stage: credited rollouts become optimizer updates. The only place that divides a loss or calls backward.

Axes: N policy tokens of a micro-batch, S turns of the policy, R rollouts of a micro-batch, G groups of a micro-batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import define

from jackfield import pack, seeds
from jackfield.corridor import Named
from jackfield.logprobs import token_logp
from jackfield.loss_batch import LossBatch
from jackfield.measure import policy_hidden
from jackfield.metrics import Means
from jackfield.stages import Critic, LanguageModel, Loss, Optimizer
from jackfield.types import Credited, Group

if TYPE_CHECKING:
    import torch

    from jackfield.settings import Learn


Bundle = tuple[Credited, ...]
"""Rollouts that must meet in one micro-batch: a group, or one rollout."""


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
        bundles = self._bundles(groups)
        means = Means()
        done, tokens, total = 0, 0, self.settings.epochs * sum(map(len, bundles))
        for epoch in range(self.settings.epochs):
            for number, minibatch in enumerate(self._minibatches(bundles, step, epoch)):
                first = epoch == 0 and number == 0
                tokens += self._update(minibatch, means, first_pass=epoch == 0, first_update=first)
                done += sum(map(len, minibatch))
                progress(done, total)
        if not bundles:
            means.add("learn/skipped_steps", 1.0)
        return {**means.report(), "learn/tokens": float(tokens)}

    def without_update(self, groups: Sequence[Group[Credited]]) -> dict[str, float]:
        """What the losses and their metrics are on these groups, with nothing moved: how recorded test data is evaluated."""
        import torch

        means = Means()
        with torch.no_grad():
            self._accumulate(self._bundles(groups), means, first_pass=True, first_update=False)
        return means.report()

    @property
    def _losses(self) -> list[Named[Loss]]:
        """Those in use."""
        return [named for named in self.losses if named.weight != 0]

    def _bundles(self, groups: Sequence[Group[Credited]]) -> list[Bundle]:
        """What must not be split: whole groups if some loss compares their members, else every rollout by itself."""
        whole = any(named.part.unit == "group" for named in self._losses)
        written = [tuple(r for r in g if r.num_policy_tokens) for g in groups]
        return [group for group in written if group] if whole else [(r,) for group in written for r in group]

    def _minibatches(self, bundles: Sequence[Bundle], step: int, epoch: int) -> list[list[Bundle]]:
        """An even split in an order of the epoch's own."""
        order = np.random.default_rng(seeds.derive(self.seed, "minibatches", step, epoch)).permutation(len(bundles))
        pieces = np.array_split(order, self.settings.minibatches)
        return [[bundles[i] for i in sorted(piece)] for piece in pieces if len(piece)]

    def _update(self, bundles: Sequence[Bundle], means: Means, *, first_pass: bool, first_update: bool) -> int:
        """One optimizer update; gives the number of tokens computed."""
        tokens = self._accumulate(bundles, means, first_pass=first_pass, first_update=first_update)
        self._step(means)
        return tokens

    def _accumulate(self, bundles: Sequence[Bundle], means: Means, *, first_pass: bool, first_update: bool) -> int:
        """The objective's gradient (where gradients are enabled), micro-batch by micro-batch; gives the number of tokens computed."""
        import torch

        weights = Weights(bundles, self.settings)
        computed = [bundle for bundle in bundles if self._has_gradient(bundle)]
        to_the_end = self._reads("score")
        for indices in pack.plan(computed, self.settings.tokens_per_microbatch, to_the_end=to_the_end):
            batch = [computed[i] for i in indices]
            terms = self._forward(batch, means, first_pass=first_pass, first_update=first_update)
            objective = torch.zeros((), dtype=terms[0].dtype, device=terms[0].device)
            for named, term in zip(self._losses, terms, strict=True):
                value = (term * weights.of(batch, named.part, term)).sum() / weights.total(named.part)
                means.add(f"losses/{named.name}", value.detach(), 0.0)
                objective = objective + named.weight * value
            if torch.is_grad_enabled():
                torch.autograd.backward(objective)
        for named in self._losses:
            means.add(f"losses/{named.name}", 0.0, 1.0)
        means.add("learn/computed_rollouts", sum(map(len, computed)), sum(map(len, bundles)))
        return sum(pack.row_length(r, to_the_end=to_the_end) for bundle in computed for r in bundle)

    def _has_gradient(self, bundle: Bundle) -> bool:
        """Whether it can move anything: it still counts in every divisor if not, but is not computed."""
        silent = all(getattr(named.part, "silent_without_advantage", False) for named in self._losses)
        return not silent or any(bool(np.any(r.advantage[r.policy_mask] != 0)) for r in bundle)

    def _reads(self, need: str) -> bool:
        return any(need in getattr(named.part, "needs", ()) for named in self._losses)

    @property
    def _reads_policy(self) -> bool:
        return any(getattr(named.part, "reads_policy", True) for named in self._losses)

    def _forward(self, bundles: Sequence[Bundle], means: Means, *, first_pass: bool, first_update: bool) -> list[torch.Tensor]:
        """The undivided terms of every loss in use, on one micro-batch."""
        batch = self._loss_batch(bundles)
        if first_pass and self._reads_policy:
            _policy_metrics(means, [r for bundle in bundles for r in bundle], batch, first_update=first_update)
        units = {
            "token": len(batch.rollout_N),
            "turn": len(batch.turn_end_S),
            "rollout": batch.num_rollouts,
            "group": batch.num_groups,
        }
        terms = []
        for named in self._losses:
            found = named.part.terms(batch)
            expected = units[named.part.unit]
            if tuple(found.term.shape) != (expected,):
                raise TypeError(
                    f"loss '{named.name}' gave terms of shape {tuple(found.term.shape)}; expected ({expected},), one a {named.part.unit}, "
                    "neither summed nor averaged"
                )
            terms.append(found.term)
            for name, per_unit in found.metrics.items():
                means.add_all(f"{named.name}/{name}", per_unit)
        return terms

    def _loss_batch(self, bundles: Sequence[Bundle]) -> LossBatch:
        """One forward pass of what the losses read."""
        import torch

        rollouts = [r for bundle in bundles for r in bundle]
        added = pack.turn_ends_and_the_end if self._reads("score") else None
        packed = pack.packed(rollouts, added)
        hidden = policy_hidden(self.policy, self.critic, packed, logp=self._reads_policy)
        rollout, target = (x.to(hidden.device) for x in (packed.rollout_N, packed.target_N))
        values = None if self.critic is None else self.critic.values(packed, hidden)
        turn_end = pack.turn_positions(rollouts).to(hidden.device)
        score = turn_score = None
        if added is not None:
            inside, after = (where.to(hidden.device) for where in pack.split_added(rollouts, added))
            assert values is not None
            is_end = rollout[after].diff(append=rollout.new_tensor([-1])) != 0  # a rollout's end comes after its turns'
            values, score, turn_score = values[inside], values[after][is_end], values[after][~is_end]
            hidden, rollout, target = hidden[inside], rollout[inside], target[inside]
        if self._reads_policy:
            logp, entropy = token_logp(self.policy, hidden, target, temperature=self.temperature, chunk=self.settings.logits_chunk)
        else:
            dtype = hidden.dtype if values is None else values.dtype
            logp = entropy = torch.full((len(target),), torch.nan, dtype=dtype, device=hidden.device)

        def gathered(name: str) -> torch.Tensor | None:
            arrays = [getattr(r, name) for r in rollouts]
            return None if arrays[0] is None else pack.gather(rollouts, arrays, logp.dtype).to(logp.device)

        old_logp, advantage = gathered("old_logp"), gathered("advantage")
        assert advantage is not None
        return LossBatch(
            logp_N=logp,
            old_logp_N=logp.detach() if old_logp is None else old_logp,
            rollout_N=rollout,
            num_rollouts=len(rollouts),
            group_R=torch.repeat_interleave(torch.tensor([len(bundle) for bundle in bundles])).to(logp.device),
            num_groups=len(bundles),
            advantage_N=advantage,
            ref_logp_N=gathered("ref_logp"),
            entropy_N=entropy,
            value_N=values,
            old_value_N=gathered("value"),
            return_N=gathered("returns"),
            turn_end_S=turn_end,
            score_R=score,
            turn_score_S=turn_score,
        )

    def _step(self, means: Means) -> None:
        import torch

        usable = any(p.grad is not None for group in self.torch_optimizer.param_groups for p in group["params"])
        for group in self.torch_optimizer.param_groups:  # policy and critic apart: one's gradient must not scale the other's
            if any(p.grad is not None for p in group["params"]):
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

    A loss over turns counts every turn of the policy once and is divided by the turns, one over rollouts by the rollouts, one over
    groups by the groups. What a loss does not count (its ``counts``) has weight 0 and is not in its divisor.
    """

    def __init__(self, bundles: Sequence[Bundle], settings: Learn) -> None:
        self._bundles = bundles
        self._aggregation = settings.aggregation
        self._fixed_length = settings.fixed_length or 0

    def of(self, bundles: Sequence[Bundle], loss: Loss, term: torch.Tensor) -> torch.Tensor:
        """The weight of every element of ``term``."""
        import torch

        if loss.unit == "group":
            return torch.ones_like(term)
        rollouts = [r for bundle in bundles for r in bundle]
        weight = np.array([float(_counts(loss, r)) for r in rollouts])
        if loss.unit == "token":
            lengths = np.array([r.num_policy_tokens for r in rollouts])
            weight = np.repeat(weight / lengths if self._aggregation == "sequence_mean" else weight, lengths)
        if loss.unit == "turn":
            weight = np.repeat(weight, [len(pack.turn_ends(r)) for r in rollouts])
        return torch.from_numpy(weight).to(term)

    def total(self, loss: Loss) -> float:
        """The divisor; 1 if nothing counts."""
        if loss.unit == "group":
            return len(self._bundles)
        counted = [r for bundle in self._bundles for r in bundle if _counts(loss, r)]
        if loss.unit == "turn":
            return sum(len(pack.turn_ends(r)) for r in counted) or 1
        lengths = [r.num_policy_tokens for r in counted]
        if loss.unit == "rollout" or self._aggregation == "sequence_mean":
            return len(lengths) or 1
        return (sum(lengths) if self._aggregation == "token_mean" else len(lengths) * self._fixed_length) or 1


def _counts(loss: Loss, rollout: Credited) -> bool:
    counts = getattr(loss, "counts", None)
    return counts is None or bool(counts(rollout))


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
