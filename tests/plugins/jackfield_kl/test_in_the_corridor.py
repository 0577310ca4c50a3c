"""A step in which nobody earned more than anybody else: what the KL makes of it is the recipe's choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from jackfield.corridor import Named
from jackfield.learn import Learner
from jackfield.measure import measure
from jackfield.settings import Learn
from jackfield.stages import Filter
from jackfield.step import scorable
from jackfield.testing.tiny_model import Sgd, TinyModel, credited_rollout
from jackfield.types import Group, Scored, Verdict
from jackfield_credit.group_norm import GroupNorm
from jackfield_filters.informative import Informative
from jackfield_kl.loss import Kl
from jackfield_ppo.policy import PpoClip

PPO, KL = Named(name="ppo_clip", part=PpoClip()), Named(name="kl", part=Kl(), weight=0.1)


def scored_alike() -> Group[Scored]:
    written = credited_rollout([("task", [1, 2]), ("policy", [3, 4]), ("environment", [5]), ("policy", [6])])
    plain = {"task": written.task, "segments": written.segments, "finish": written.finish, "verdicts": {"rule": Verdict.score(1.0)}}
    return Group(id="0/0", task=written.task, members=tuple(Scored(member=member, reward=1.0, **plain) for member in range(4)))


def learnt(losses: Sequence[Named[Any]], *, filters: Sequence[Named[Filter]] = ()) -> tuple[torch.Tensor, dict[str, float]]:
    """The policy's parameters after such a step, and its metrics. The reference is another model, so that there is a KL."""
    policy, optimizer = TinyModel.new(), Sgd()
    kept = scorable([scored_alike()], GroupNorm.smallest_group, filters)
    needs = {"old_logp", "ref_logp"}
    measured = measure(
        kept, needs=needs, policy=policy, reference=TinyModel.new(seed=1).reference(), critic=None, penalties=(), temperature=1.0,
        settings=Learn(),
    )  # fmt: skip
    learner = Learner(
        policy=policy, critic=None, losses=losses, optimizer=optimizer, torch_optimizer=optimizer.build(policy.parameters(), []),
        settings=Learn(max_grad_norm=1e9), temperature=1.0, seed=0, num_updates=1,
    )  # fmt: skip
    metrics = learner.learn(GroupNorm().credit(measured), step=0)
    return torch.cat([parameter.detach().flatten() for parameter in policy.parameters()]), metrics


def test_equal_rewards_move_nothing_by_themselves() -> None:
    """A1: advantages of exactly 0 give no update at all, and that is counted."""
    before = torch.cat([parameter.detach().flatten() for parameter in TinyModel.new().parameters()])
    after, metrics = learnt([PPO])
    assert torch.equal(after, before)
    assert (metrics["learn/computed_rollouts"], metrics["learn/skipped_updates"]) == (0.0, 1.0)


def test_the_kl_moves_it_alone() -> None:
    """A1, policy: a KL in the loss pulls at such groups too, exactly as if it were the only loss."""
    with_both, metrics = learnt([PPO, KL])
    with_kl, _ = learnt([KL])
    assert torch.equal(with_both, with_kl)
    assert not torch.equal(with_kl, learnt([PPO])[0])
    assert metrics["learn/computed_rollouts"] == 1.0
    assert metrics["losses/ppo_clip"] == 0.0


def test_the_filter_leaves_them_out_of_the_kl_too() -> None:
    """A1, policy: with `informative` there is nothing left to learn from."""
    after, metrics = learnt([PPO, KL], filters=[Named(name="informative", part=Informative())])
    assert torch.equal(after, learnt([PPO])[0])
    assert metrics["learn/skipped_steps"] == 1.0
