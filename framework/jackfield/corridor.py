"""What a recipe plugged together: settings and components, constructed but with nothing loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from attrs import frozen

from jackfield import settings, stages

C = TypeVar("C", covariant=True)


@frozen(kw_only=True, eq=False)
class Named(Generic[C]):
    """A component of a recipe's list, with what the core attaches to it."""

    name: str
    """As metrics and verdicts call it: the recipe's ``use`` (with ``#2`` for a second one of that name)."""
    part: C
    weight: float = 1.0
    gate: bool = False
    """Of a reward: where it scores 0 or less, the other rewards do not count."""


@frozen(kw_only=True, eq=False)
class Corridor:
    """The parts of a run, in the order a step meets them."""

    run: settings.Run
    sampling: settings.Sampling
    learn: settings.Learn
    evaluate: settings.Evaluate
    checkpoint: settings.Checkpoint

    data: stages.Data
    model: stages.ModelSource
    environment: stages.Environment
    engine: stages.Engine
    tools: tuple[Named[stages.Tool], ...]
    rewards: tuple[Named[stages.Reward], ...]
    filters: tuple[Named[stages.Filter], ...]
    penalties: tuple[Named[stages.Penalty], ...]
    critic: stages.Critic | None
    advantage: stages.Advantage
    losses: tuple[Named[stages.Loss], ...]
    optimizer: stages.Optimizer
    trackers: tuple[Named[stages.Tracker], ...]

    @property
    def needs(self) -> frozenset[str]:
        """Everything any part asked for; decides which passes run and which models exist."""
        return frozenset().union(*self.needs_by_part().values())

    def needs_by_part(self) -> dict[str, frozenset[str]]:
        """Part → what it asked for, for those that asked."""
        parts: list[tuple[str, Any]] = [("advantage", self.advantage)]
        parts += [(f"penalties.{p.name}", p.part) for p in self.penalties]
        parts += [(f"losses.{p.name}", p.part) for p in self.losses if p.weight != 0]
        return {name: frozenset(needs) for name, part in parts if (needs := getattr(part, "needs", ()))}

    @property
    def at_work(self) -> list[Any]:
        """What is prepared before the first step and closed after the last: tools, rewards, engine."""
        return [*(t.part for t in self.tools), *(r.part for r in self.rewards), self.engine]

    def stateful(self) -> dict[str, Any]:
        """Place in the recipe → component that learns from step to step."""
        named = {
            f"{key}.{index}": entry.part
            for key in ("filters", "penalties", "losses")
            for index, entry in enumerate(getattr(self, key))
        }
        return {place: part for place, part in {"advantage": self.advantage, **named}.items() if hasattr(part, "state")}

    def after_step(self, metrics: Mapping[str, float]) -> None:
        """Tell every component that wants to know what the step came to."""
        entries = [*self.filters, *self.penalties, *self.losses]
        for part in (self.advantage, *(entry.part for entry in entries)):
            if hasattr(part, "after_step"):
                part.after_step(metrics)

    @property
    def updates_per_step(self) -> int:
        """Optimizer updates made of one step's rollouts."""
        return self.learn.epochs * self.learn.minibatches

    @property
    def measured(self) -> frozenset[str]:
        """The no-gradient passes before learning. With a single update a step, ``old_logp`` is the learn pass's own
        log-prob, detached, unless the advantage or a penalty reads it before."""
        passes = self.needs & {"old_logp", "ref_logp", "value"}
        readers = [self.advantage, *(p.part for p in self.penalties)]
        early = frozenset().union(*(getattr(reader, "needs", ()) for reader in readers))
        return passes if self.updates_per_step > 1 or "old_logp" in early else passes - {"old_logp"}
