"""Recorded pairs through the whole corridor: played, scored, measured, credited, learnt from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from jackfield.corridor import Named
from jackfield.learn import Learner
from jackfield.measure import measure
from jackfield.reward import score
from jackfield.rollout import Episode, Players, play
from jackfield.settings import Learn
from jackfield.stages import Critic
from jackfield.testing.tiny_model import Sgd, TinyCritic, TinyModel
from jackfield.types import Credited, Group, Message, Rollout, Task
from jackfield_credit.pairs import Pairs
from jackfield_preference.bradley_terry import BradleyTerry
from jackfield_preference.chosen_nll import ChosenNll
from jackfield_preference.dpo import Dpo
from jackfield_preference.preferred import Preferred
from jackfield_sft.recorded import Recorded

TASKS = [
    Task(id="a", prompt=(Message(role="user", content="1 2"),), recorded=(("3 4 5",), ("6",)), extra={"scores": (1.0, 0.0)}),
    Task(id="b", prompt=(Message(role="user", content="7"),), recorded=(("8 9",), ("10 11 12 13",)), extra={"scores": (0.0, 1.0)}),
    Task(id="tie", prompt=(Message(role="user", content="7"),), recorded=(("8",), ("9",)), extra={"scores": (1.0, 1.0)}),
]
SETTINGS = Learn(max_grad_norm=100.0)


class OneTurn:
    """The policy answers once."""

    async def play(self, episode: Episode) -> Rollout:
        episode.start(episode.task.prompt)
        await episode.generate(max_new_tokens=8, stop=[])
        return episode.finish("eos")


def pairs_of(policy: TinyModel, reference: TinyModel | None) -> list[Group[Credited]]:
    """What a step has before it learns."""
    engine = Recorded()
    engine.start(policy, policy.tokenizer)
    players = Players(environment=OneTurn(), engine=engine, tokenizer=policy.tokenizer, tools={}, run_seed=0)
    played = play(players, TASKS, step=0, group_size=2, temperature=1.0)
    measured = measure(
        score(played, [Named(name="preferred", part=Preferred())]),
        needs={"ref_logp"} if reference else set(),
        policy=policy,
        reference=reference,
        critic=None,
        penalties=(),
        temperature=1.0,
        settings=SETTINGS,
    )
    return Pairs().credit(measured)


def learner_of(policy: TinyModel, losses: Sequence[Named[Any]], critic: Critic | None = None, lr: float = 0.05) -> Learner:
    """What moves the policy, and the critic if there is one."""
    optimizer = Sgd(lr)
    return Learner(
        policy=policy,
        critic=critic,
        losses=losses,
        optimizer=optimizer,
        torch_optimizer=optimizer.build(policy.parameters(), critic.parameters() if critic else []),
        settings=SETTINGS,
        temperature=1.0,
        seed=0,
        num_updates=99,
    )


def test_dpo_starts_at_ln_2_and_moves() -> None:
    """A14: 0.6931 in the first update, less in the second; references measured in every step and once before agree."""
    policy = TinyModel.new()
    reference = policy.reference()
    learner = learner_of(policy, [Named(name="dpo", part=Dpo()), Named(name="chosen_nll", part=ChosenNll(), weight=0.1)])
    once_before = pairs_of(policy, reference)
    assert [group.task.id for group in once_before] == ["a", "b"]
    first = learner.learn(once_before, step=0)
    assert first["losses/dpo"] == pytest.approx(math.log(2), abs=1e-12)
    assert first["dpo/accuracy"] == 0.5
    second, precomputed = (learner.without_update(groups) for groups in (pairs_of(policy, reference), once_before))
    assert second["losses/dpo"] < math.log(2) - 1e-3
    assert second["losses/chosen_nll"] < first["losses/chosen_nll"]
    assert second["dpo/accuracy"] == 1.0
    assert second["dpo/margin"] == pytest.approx(second["dpo/reward_chosen"] - second["dpo/reward_rejected"], abs=1e-12)
    assert precomputed["losses/dpo"] == pytest.approx(second["losses/dpo"], abs=1e-12)


def test_a_reward_model_learns_the_order() -> None:
    """Scores of the chosen attempts rise above those of the rejected ones, and their sums go to 0."""
    policy, critic = TinyModel.new(), TinyCritic()
    critic.start(policy, seed=0)
    learner = learner_of(policy, [Named(name="bradley_terry", part=BradleyTerry(centring=0.1))], critic, lr=0.2)
    pairs = pairs_of(policy, None)
    steps = [learner.learn(pairs, step=step) for step in range(15)]
    assert steps[-1]["losses/bradley_terry"] < 0.5 * steps[0]["losses/bradley_terry"]
    assert steps[-1]["bradley_terry/accuracy"] == 1.0
    assert abs(steps[-1]["bradley_terry/score_chosen"] + steps[-1]["bradley_terry/score_rejected"]) < 1.0
