"""Means with declared denominators. A metric is a sum and a count until it is reported, so no mean of means can arise.

Names and denominators of what the core reports (losses and components add their own under their name):

=============================  ==================================================================================
reward/mean, reward/<source>   rollouts with a reward; rollouts that source scored
verdicts/abstain, /error       verdicts asked for (rollouts × sources)
kl/reference                   policy tokens: k3 of the policy before the update against the reference; of all measured rollouts, or where
                               one update a step spares the pass for old_logp, of those computed in the learn pass
policy/entropy                 policy tokens of the step's first pass
policy/sampler_gap             policy tokens: |log-prob of the learn pass − log-prob the sampler reported|
policy/first_update_ratio      policy tokens of the step's first update: exp(logp − old_logp), 1 if all is well;
                               1 by construction where one update a step spares the pass for old_logp
critic/explained_variance      policy tokens: 1 − Var(return − value) / Var(return), value before the update; 0: no better
                               than a constant, below 0: worse, so that advantages carry the critic's noise
losses/<name>                  the loss's own unit, weighted by the recipe's aggregation
grad_norm/policy, /critic      updates, before clipping
learn/computed_rollouts        rollouts: those that could move anything (metrics of policy/ and losses are over these)
learn/tokens                   a sum: tokens computed in all passes of the learn stage
learn/skipped_updates          updates: nothing to learn from, or a gradient that is not finite
groups/informative             groups: members differ in reward
groups/left_out                groups: too few members with a reward, or left out by a filter
generate/tokens                a sum: tokens the policy sampled, or that were played back for it
rollout/left_out               rollouts: as above, singly or with their group
rollout/truncated, /failed …   rollouts; counters of the environment (turns, search_calls …) are means over rollouts
state/<place>/<name>           a number that a component keeps from step to step, after the step
speed/<phase>_tokens_per_second  tokens the phase computed over its seconds
share/outside_stages           step time outside generate, score, measure and learn
memory/peak_gib                none: the most main memory the process has held so far, in GiB (not a GPU's)
=============================  ==================================================================================
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

from jackfield.types import Credited, FloatArray, Group, Rollout, Scored

if TYPE_CHECKING:
    import torch


class Means:
    """Named sums with their counts.

    Example: ``means.add("reward/mean", 1.0)`` twice and ``0.0`` once reports 0.6667 over 3.
    """

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._counts: dict[str, float] = {}

    def add(self, name: str, value: SupportsFloat, count: float = 1.0) -> None:
        """Add a value, or a sum over ``count`` units."""
        self._sums[name] = self._sums.get(name, 0.0) + float(value)
        self._counts[name] = self._counts.get(name, 0.0) + count

    def add_all(self, name: str, values: torch.Tensor) -> None:
        """Add one value a unit."""
        self.add(name, values.detach().double().sum().item(), values.numel())

    def report(self) -> dict[str, float]:
        """The means; a name with nothing to divide by is left out."""
        return {name: self._sums[name] / count for name, count in self._counts.items() if count}


class Phases:
    """Seconds by phase of a step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._start = time.perf_counter()

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin

    def close(self) -> dict[str, float]:
        """All phases, plus ``other`` (outside every phase) and ``total``."""
        total = time.perf_counter() - self._start
        return {**self.seconds, "other": total - sum(self.seconds.values()), "total": total}


def of_rollouts(groups: Sequence[Group[Scored]]) -> dict[str, float]:
    """Rewards, verdicts, finish reasons and counters of all rollouts."""
    means = Means()
    rollouts = [r for g in groups for r in g]
    for rollout in rollouts:
        _count(means, rollout)
    for name in sorted({name for r in rollouts for name in r.counters}):
        for rollout in rollouts:
            means.add(f"rollout/{name}", rollout.counters.get(name, 0.0))
    return means.report()


def of_groups(groups: Sequence[Group[Scored]], kept: Sequence[Group[Scored]]) -> dict[str, float]:
    """How many groups had something to say: ``kept`` are those that the step goes on with."""
    means = Means()
    for _ in groups:
        means.add("groups/left_out", 0.0)
    means.add("groups/left_out", len(groups) - len(kept), 0.0)
    played = sum(map(len, groups))
    means.add("rollout/left_out", played - sum(map(len, kept)), played)
    for group in kept:
        means.add("groups/informative", len({r.reward for r in group}) > 1)
    return means.report()


def of_credit(groups: Sequence[Group[Credited]]) -> dict[str, float]:
    """How well the critic foretold its own targets, and how far the policy is from the reference, over all rollouts that were measured."""
    rollouts = [r for g in groups for r in g]
    found = {}
    value, target = _written(rollouts, "value"), _written(rollouts, "returns")
    if len(value) == len(target) > 0 and target.var() > 0:
        found["critic/explained_variance"] = float(1 - (target - value).var() / target.var())
    old_logp, ref_logp = _written(rollouts, "old_logp"), _written(rollouts, "ref_logp")
    if len(old_logp) == len(ref_logp) > 0:
        log_ratio = np.clip(ref_logp - old_logp, -20, 20)
        found["kl/reference"] = float((np.exp(log_ratio) - 1 - log_ratio).mean())
    return found


def _written(rollouts: Sequence[Credited], name: str) -> FloatArray:
    """The values of a per-token array at the policy's tokens of all rollouts; nothing if it was not measured."""
    arrays = [getattr(r, name) for r in rollouts]
    if not arrays or any(array is None for array in arrays):
        return np.zeros(0)
    return np.concatenate([np.asarray(a, np.float64)[r.policy_mask] for r, a in zip(rollouts, arrays, strict=True)])


def of_components(states: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """What components that learn from step to step know after the step: ``state/penalties.0/coefficient``."""
    return {f"state/{place}/{name}": value for place, state in states.items() for name, value in state.items()}


def by_label(groups: Sequence[Group[Scored]]) -> dict[str, float]:
    """Mean score of every source over all rollouts and apart for every value of every label: ``hops=2/exact_match``.

    Rollouts that failed, and those a source abstained from or failed on, are left out of its mean; how many those are stands
    beside it where there are any (``hops=2/exact_match/unscored``), and so does the number of rollouts.
    """
    means = Means()
    counts: Counter[str] = Counter()
    values: dict[str, set[str]] = {}
    for group in groups:
        for name, value in group.task.labels.items():
            values.setdefault(name, set()).add(value)
    # A label with very many values (an id) is no way to look at a result.
    shown = {n for n in values if len(values[n]) <= 50}
    sources = sorted({source for g in groups for r in g for source in r.verdicts})
    for group in groups:
        places = ["", *(f"{n}={v}/" for n, v in sorted(group.task.labels.items()) if n in shown)]
        for place in places:
            for rollout in group:
                counts[f"{place}rollouts"] += 1
                for source in sources:
                    verdict = rollout.verdicts.get(source)
                    if verdict is not None and verdict.kind == "score":
                        means.add(f"{place}{source}", verdict.value)
                    else:
                        counts[f"{place}{source}/unscored"] += 1
    return {**means.report(), **counts}


def speeds(seconds: Mapping[str, float], tokens: Mapping[str, float]) -> dict[str, float]:
    """Tokens per second of every phase, and the share of the step outside all phases."""
    rates = {f"speed/{n}_tokens_per_second": tokens[n] / seconds[n] for n in tokens if seconds.get(n)}
    return {**rates, "share/outside_stages": seconds["other"] / seconds["total"] if seconds["total"] else 0.0}


def memory() -> dict[str, float]:
    """The most resident memory of this process up to now. It never falls, and what ran earlier in the process counts."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"memory/peak_gib": peak / 2**30 if sys.platform == "darwin" else peak / 2**20}  # macOS says bytes, Linux KiB


def _count(means: Means, rollout: Scored) -> None:
    if rollout.reward is not None and rollout.verdicts:
        means.add("reward/mean", rollout.reward)
    for source, verdict in rollout.verdicts.items():
        means.add("verdicts/abstain", verdict.kind == "abstain")
        means.add("verdicts/error", verdict.kind == "error")
        if verdict.kind == "score":
            means.add(f"reward/{source}", verdict.value)
            for name, value in verdict.extras.items():
                means.add(f"reward/{source}/{name}", value)
    means.add("rollout/truncated", rollout.finish.truncated)
    for reason in ("answer", "eos", "tool_loop", "failed"):
        means.add(f"rollout/finish_{reason}", rollout.finish.reason == reason)
    means.add("rollout/tokens", len(rollout.tokens))
    means.add("rollout/policy_tokens", rollout.num_policy_tokens)


def num_tokens(rollouts: Iterable[Rollout]) -> int:
    """All tokens of the rollouts."""
    return int(np.sum([len(r.tokens) for r in rollouts], dtype=np.int64))
