"""Every reported mean is a sum over what its name says, divided once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from attrs import evolve

from jackfield import metrics
from jackfield.testing.tiny_model import credited_rollout
from jackfield.types import Credited, Finish, Group, Scored, Task, Verdict

JUDGED = {
    "exact": Verdict.score(1.0, hops=2.0),
    "form": Verdict.abstain("no tags asked for"),
}


def rollout(verdicts: dict[str, Verdict], reward: float | None, **changes: Any) -> Scored:
    """Three tokens of the policy after two of the task."""
    return evolve(credited_rollout([("task", [1, 2]), ("policy", [3, 4, 5])]), verdicts=verdicts, reward=reward, **changes)


def group(*members: Scored, labels: dict[str, str] | None = None) -> Group[Scored]:
    task = Task(id="t", prompt=(), labels=labels or {})
    return Group(id="0/0", task=task, members=tuple(evolve(m, task=task, member=i) for i, m in enumerate(members)))


def test_means_are_not_means_of_means() -> None:
    """Pitfall 46: micro-batches of 1 and 3 tokens with means 1 and 0 have the mean 1/4, not 1/2; nothing counted is not reported."""
    means = metrics.Means()
    means.add_all("loss", torch.tensor([1.0]))
    means.add_all("loss", torch.tensor([0.0, 0.0, 0.0]))
    means.add("nothing", 0.0, 0.0)
    assert means.report() == {"loss": 0.25}


def test_sums_are_kept_in_double_precision() -> None:
    """A million float32 tenths are 0.1 on average."""
    means = metrics.Means()
    means.add_all("loss", torch.full((1_000_000,), 0.1))
    assert means.report()["loss"] == pytest.approx(float(torch.tensor(0.1)), rel=1e-12)


def test_verdicts_and_extras() -> None:
    """R8: further numbers of a verdict are metrics of its source. A source's mean is over what it scored; abstentions and errors are
    shares of all verdicts asked for; a rollout without reward is in no mean of rewards."""
    failed = rollout({"exact": Verdict.error("timeout"), "form": Verdict.score(0.5)}, None)
    found = metrics.of_rollouts(
        [group(rollout(JUDGED, 1.0), failed, rollout({**JUDGED, "exact": Verdict.score(0.0, hops=1.0)}, 0.0))]
    )
    assert found["reward/exact"] == 0.5
    assert found["reward/exact/hops"] == 1.5
    assert found["reward/form"] == 0.5
    assert found["reward/mean"] == 0.5
    assert found["verdicts/abstain"] == pytest.approx(2 / 6)
    assert found["verdicts/error"] == pytest.approx(1 / 6)


def test_rollouts_are_counted_by_what_ended_them() -> None:
    """Out of budget is truncated, a tool loop is not; counters are means over all rollouts, 0 where a rollout has none."""
    loop = rollout(JUDGED, 1.0, finish=Finish(reason="tool_loop"), counters={"search_calls": 3.0})
    found = metrics.of_rollouts([group(loop, rollout(JUDGED, 1.0, finish=Finish(reason="length")), rollout(JUDGED, 1.0))])
    assert found["rollout/truncated"] == pytest.approx(1 / 3)
    assert found["rollout/finish_tool_loop"] == found["rollout/finish_answer"] == pytest.approx(1 / 3)
    assert found["rollout/search_calls"] == 1.0
    assert (found["rollout/tokens"], found["rollout/policy_tokens"]) == (5, 3)


def test_groups_without_a_difference_are_counted() -> None:
    """A1: a group of equal rewards is not informative; one left out is counted apart and in no share."""
    equal, mixed = group(*[rollout(JUDGED, 1.0)] * 4), group(rollout(JUDGED, 1.0), rollout(JUDGED, 0.0))
    found = metrics.of_groups([equal, mixed, group(rollout(JUDGED, None))], [equal, mixed])
    assert found == pytest.approx({"groups/informative": 0.5, "groups/left_out": 1 / 3, "rollout/left_out": 1 / 7})


def test_a_critic_is_measured_against_a_constant() -> None:
    """1 for a critic that knew its targets, 0 for one that gave their mean, −3 for one that is as wrong as twice their spread; other
    writers' positions hold NaN; a target that never varies says nothing."""
    nan = np.nan

    def credited(value: list[float], returns: list[float]) -> Group[Credited]:
        member = credited_rollout([("task", [1, 2]), ("policy", [3, 4])])
        member = evolve(member, value=np.array([nan, nan, *value]), returns=np.array([nan, nan, *returns]))
        return Group(id="0/0", task=member.task, members=(member,))

    def explained(*groups: Group[Credited]) -> float:
        return metrics.of_credit(groups)["critic/explained_variance"]

    assert explained(credited([1.0, 3.0], [1.0, 3.0]), credited([1.0, 3.0], [1.0, 3.0])) == 1
    assert explained(credited([2.0, 2.0], [1.0, 3.0])) == 0
    assert explained(credited([3.0, 1.0], [1.0, 3.0])) == -3
    flat, absent = credited([3.0, 1.0], [2.0, 2.0]), evolve(credited_rollout([("policy", [1, 2])]), value=None)
    for group in (flat, Group(id="0/0", task=absent.task, members=(absent,))):
        assert "critic/explained_variance" not in metrics.of_credit([group])


def test_the_distance_from_the_reference_is_of_all_that_was_measured() -> None:
    """k3 of the policy before the update against the reference, by hand; also of rollouts without advantage; only where both were measured."""
    nan = np.nan
    member = credited_rollout([("task", [1]), ("policy", [3, 4])])
    member = evolve(member, old_logp=np.array([nan, -1.0, -2.0]), ref_logp=np.array([nan, -1.5, -2.0]), advantage=np.zeros(3))
    group = Group(id="0/0", task=member.task, members=(member,))
    assert metrics.of_credit([group])["kl/reference"] == pytest.approx((np.exp(-0.5) - 1 + 0.5) / 2)
    unmeasured = evolve(member, old_logp=None)
    assert "kl/reference" not in metrics.of_credit([Group(id="0/0", task=member.task, members=(unmeasured,))])


def test_labels_are_reported_apart() -> None:
    """The mean of every value of a label and of all; abstentions count in no mean."""
    one = group(rollout(JUDGED, 1.0), labels={"hops": "1"})
    two = group(rollout({**JUDGED, "exact": Verdict.score(0.0)}, 0.0), rollout(JUDGED, 1.0), labels={"hops": "2"})
    found = metrics.by_label([one, two])
    assert (found["exact"], found["hops=1/exact"], found["hops=2/exact"]) == (pytest.approx(2 / 3), 1.0, 0.5)
    assert (found["rollouts"], found["hops=1/rollouts"], found["hops=2/rollouts"]) == (3, 1, 2)
    assert "form" not in found


def test_phases_add_up() -> None:
    """What is in no phase is ``other``; shares and speeds are of the seconds measured."""
    phase = metrics.Phases()
    for _ in range(2):
        with phase("learn"):
            pass
    seconds = phase.close()
    assert seconds["total"] == pytest.approx(seconds["learn"] + seconds["other"])
    found = metrics.speeds({"learn": 2.0, "other": 1.0, "total": 4.0}, {"learn": 10, "measure": 5})
    assert found == {"speed/learn_tokens_per_second": 5.0, "share/outside_stages": 0.25}


def test_peak_memory_is_that_of_the_process() -> None:
    """In GiB: what the kernel says of this process, within what the rest of the test takes; never less after taking more."""
    before = metrics.memory()["memory/peak_gib"]
    status = Path("/proc/self/status")
    if status.exists():
        found = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        assert before == pytest.approx(found / 2**20, rel=0.2)
    taken = np.ones(2**24)
    assert metrics.memory()["memory/peak_gib"] >= before
    assert taken.sum() == 2**24
