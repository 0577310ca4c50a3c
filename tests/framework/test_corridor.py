"""What the parts of a recipe ask for decides which passes run."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen

from jackfield import settings
from jackfield.corridor import Corridor, Named


@frozen
class Part:
    """Any component that asks for something."""

    needs: frozenset[str] = frozenset()


def corridor(
    *, loss: set[str], penalty: set[str] | None = None, advantage: set[str] | None = None, weight: float = 1.0, **learn: Any
) -> Corridor:
    parts: dict[str, Any] = dict.fromkeys(("data", "model", "environment", "engine", "critic", "optimizer"))
    return Corridor(
        run=settings.Run(title="c", steps=1, tasks_per_step=1),
        sampling=settings.Sampling(),
        learn=settings.Learn(**learn),
        evaluate=settings.Evaluate(),
        checkpoint=settings.Checkpoint(),
        advantage=Part(frozenset(advantage or ())),
        losses=(Named(name="loss", part=Part(frozenset(loss)), weight=weight),),
        penalties=(Named(name="penalty", part=Part(frozenset(penalty))),) if penalty else (),
        **parts,
        **dict.fromkeys(("tools", "rewards", "filters", "trackers"), ()),
    )


@pytest.mark.parametrize(
    ("keys", "measured"),
    [
        ({"loss": set()}, set()),
        ({"loss": {"old_logp"}}, set()),
        ({"loss": {"old_logp"}, "epochs": 2}, {"old_logp"}),
        ({"loss": {"old_logp"}, "minibatches": 2}, {"old_logp"}),
        ({"loss": {"old_logp"}, "penalty": {"old_logp", "ref_logp"}}, {"old_logp", "ref_logp"}),
        ({"loss": {"ref_logp"}}, {"ref_logp"}),
        ({"loss": {"ref_logp"}, "weight": 0.0}, set()),
        ({"loss": set(), "advantage": {"value"}}, {"value"}),
    ],
)
def test_passes_that_run(keys: dict[str, Any], measured: set[str]) -> None:
    """Pitfall 19: old log-probs get a pass of their own when a step has several updates, or when something reads them before the
    update; else they are the learn pass's own. A loss of weight 0 asks for nothing."""
    assert corridor(**keys).measured == measured


def test_who_asked() -> None:
    """For ``check``: parts by name, and only those that asked."""
    found = corridor(loss={"old_logp"}, penalty={"ref_logp"}).needs_by_part()
    assert found == {"penalties.penalty": {"ref_logp"}, "losses.loss": {"old_logp"}}
