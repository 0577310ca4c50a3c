"""REINFORCE with a moving average as baseline."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from jackfield.types import Credited, Group, Measured
from jackfield_credit.running_baseline import RunningBaseline

Make = Callable[..., Measured]
MakeGroup = Callable[..., Group[Measured]]


def at_policy(rollout: Credited) -> list[float]:
    return rollout.advantage[rollout.policy_mask].tolist()


def test_hand_computed(measured: Make, group: MakeGroup) -> None:
    """decay ½: before any step b = 0; after a mean of 1, b = 1; after 0, b = (½·1 + 0) / 1.5 = 1/3. Totals 1 and 0.5."""
    pair = group(measured("PAEA", rewards=[0, 1]), measured("PAAE", rewards=[-0.5, 1]))
    estimator = RunningBaseline(decay=0.5)
    for mean, baseline in ((1.0, 0.0), (0.0, 1.0), (None, 1 / 3)):
        [credited] = estimator.credit([pair])
        assert [at_policy(m) for m in credited] == [pytest.approx([1 - baseline] * 2), pytest.approx([0.5 - baseline] * 2)]
        assert [m.returns for m in credited] == [None, None]
        if mean is not None:
            estimator.after_step({"reward/mean": mean, "reward/exact_match": 100.0})


def test_the_average_is_the_weighted_sum() -> None:
    """Σ decay^(steps since) m / Σ decay^(steps since), from the definition."""
    means = [0.3, -1.0, 0.25, 2.0, 0.7]
    estimator = RunningBaseline(decay=0.9)
    for done, mean in enumerate(means, start=1):
        estimator.after_step({"reward/mean": mean})
        weights = [0.9 ** (done - 1 - step) for step in range(done)]
        expected = math.fsum(w * m for w, m in zip(weights, means, strict=False)) / math.fsum(weights)
        assert estimator.baseline == pytest.approx(expected, abs=1e-12)


def test_only_a_finished_step_is_learnt_from(measured: Make, group: MakeGroup) -> None:
    """Crediting moves nothing, and neither does a step in which nothing had a reward."""
    estimator = RunningBaseline()
    estimator.after_step({"reward/mean": 0.25})
    for _ in range(3):
        estimator.credit([group(measured("PA", rewards=[100]))])
        estimator.after_step({"policy/entropy": 1.0})
    assert estimator.baseline == 0.25


def test_resuming_goes_on_as_if_nothing_had_happened() -> None:
    """What ``state`` gives, another one takes over."""
    one, other = RunningBaseline(decay=0.7), RunningBaseline(decay=0.7)
    for mean in (0.1, 0.9, 0.4):
        one.after_step({"reward/mean": mean})
    other.restore(one.state())
    for estimator in (one, other):
        estimator.after_step({"reward/mean": -0.3})
    assert other.baseline == one.baseline
    assert other.state() == one.state()


def test_decay_0_is_the_last_step() -> None:
    """Only what was just seen counts."""
    estimator = RunningBaseline(decay=0.0)
    for mean in (1.0, 0.5):
        estimator.after_step({"reward/mean": mean})
    assert estimator.baseline == 0.5


@pytest.mark.parametrize("decay", [1.0, -0.1])
def test_decay_out_of_range(decay: float) -> None:
    """Below 1, or the first step would count as much as the last for ever."""
    with pytest.raises(ValueError, match="decay: must be at least 0 and below 1"):
        RunningBaseline(decay=decay)
