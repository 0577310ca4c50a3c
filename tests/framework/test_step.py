"""What one step hands from stage to stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from attrs import evolve, field, frozen

from jackfield.corridor import Named
from jackfield.learn import Learner
from jackfield.loss_batch import LossBatch, LossTerms
from jackfield.settings import Learn
from jackfield.step import scorable, with_credit
from jackfield.testing.tiny_model import Sgd, TinyModel, credited_rollout, one_group_each
from jackfield.types import Credited, Group, Scored


def scored(*rewards: float | None) -> Group[Scored]:
    rollout = credited_rollout([("task", [1]), ("policy", [2])])
    return Group(id="g", task=rollout.task, members=tuple(evolve(rollout, member=i, reward=r) for i, r in enumerate(rewards)))


def test_what_could_not_be_judged_leaves_the_statistics() -> None:
    """R1, R4, pitfall 37: it is no 0 in its group's mean; a group with too few left is left out whole."""
    kept = scorable([scored(1.0, None, 0.0), scored(None, 1.0), scored(None, None)], 2)
    assert [[r.reward for r in g] for g in kept] == [[1.0, 0.0]]
    assert [len(g) for g in scorable([scored(None, 1.0), scored(None)], 1)] == [1]


def test_no_filter_is_given_an_empty_group() -> None:
    """Neither where no member of a group has a reward, nor where the filter before it left one empty."""
    met: list[int] = []

    class Emptying:
        def keep(self, groups: Sequence[Group[Scored]]) -> list[Group[Scored]]:
            met.extend(len(group) for group in groups)
            return [evolve(group, members=()) for group in groups]

    filters = [Named(name=name, part=Emptying()) for name in ("first", "second")]
    assert scorable([scored(1.0, 0.0), scored(None, None)], 1, filters) == []
    assert met == [2]


def test_a_report_holds_every_rollout() -> None:
    """As far as it came: members without reward stay in their place, the others carry their advantages."""
    all_of_them = scored(1.0, None, 0.0)
    plain = Group(id="g", task=all_of_them.task, members=tuple(_only_scored(r) for r in all_of_them))
    kept = Group(id="g", task=plain.task, members=(all_of_them.members[0], all_of_them.members[2]))
    (told,) = with_credit([plain], [kept])  # type: ignore[list-item]
    assert [r.member for r in told] == [0, 1, 2]
    assert [isinstance(r, Credited) for r in told] == [True, False, True]


@frozen(eq=False)
class Watching:
    """A loss that remembers which log-probs it was compared with."""

    unit = "token"
    seen: list[Any] = field(factory=list)

    def terms(self, batch: LossBatch) -> LossTerms:
        self.seen.append((batch.logp_N.detach().clone(), batch.old_logp_N.clone()))
        return LossTerms(term=-batch.logp_N)


def test_old_log_probs_are_those_of_before_the_first_update() -> None:
    """Pitfall 19: in later passes the policy has moved and what it is compared with has not."""
    policy, loss, optimizer = TinyModel.new(), Watching(), Sgd()
    learner = Learner(
        policy=policy,
        critic=None,
        losses=[Named(name="loss", part=loss)],
        optimizer=optimizer,
        torch_optimizer=optimizer.build(policy.parameters(), []),
        settings=Learn(epochs=3),
        temperature=1.0,
        seed=0,
        num_updates=3,
    )
    learner.learn(one_group_each([credited_rollout([("task", [1, 2]), ("policy", [3, 4, 5])])]), step=0)
    logps, olds = zip(*loss.seen, strict=True)
    assert all(torch.equal(old, olds[0]) for old in olds)
    assert not torch.equal(logps[0], logps[1])
    assert not torch.equal(logps[1], logps[2])


def _only_scored(rollout: Scored) -> Scored:
    return Scored(
        task=rollout.task,
        member=rollout.member,
        segments=rollout.segments,
        finish=rollout.finish,
        verdicts=rollout.verdicts,
        reward=rollout.reward,
    )
