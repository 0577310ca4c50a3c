"""Labelled steps through the whole corridor: played, scored, measured, credited, learnt from."""

from __future__ import annotations

import math
from typing import Any

import pytest

from jackfield.corridor import Named
from jackfield.learn import Learner
from jackfield.measure import measure
from jackfield.pack import joined
from jackfield.reward import score
from jackfield.rollout import Players, play
from jackfield.settings import Learn
from jackfield.testing.tiny_model import Sgd, TinyCritic, TinyModel
from jackfield.types import Credited, Group, Message, Task
from jackfield_credit.monte_carlo import MonteCarlo
from jackfield_environments.steps import Steps
from jackfield_process.labels import StepLabels
from jackfield_process.loss import StepCrossEntropy
from jackfield_sft.recorded import Recorded


def row(name: str, prompt: str, steps: tuple[str, ...], labels: tuple[float, ...]) -> Task:
    return Task(
        id=name,
        prompt=(Message(role="user", content=prompt),),
        recorded=(steps,),
        extra={"step_labels": (labels,)},
    )


TASKS = [
    row("a", "1 2", ("3 4", "5", "6 7 8"), (1.0, 0.0, 1.0)),
    row("b", "7", ("8",), (0.0,)),
    row("c", "9", ("3 4", "6", "5 5", "10 11", "2"), (1.0, 0.1, 0.2, 0.7, 0.0)),
]


def credited(policy: TinyModel, tasks: list[Task]) -> list[Group[Credited]]:
    """What a step has before it learns."""
    engine = Recorded()
    engine.start(policy, policy.tokenizer)
    environment = Steps(max_new_tokens_per_step=8, step_end="99")
    players = Players(environment=environment, engine=engine, tokenizer=policy.tokenizer, tools={}, run_seed=0)
    played = play(players, tasks, step=0, group_size=1, temperature=1.0)
    measured = measure(
        score(played, [Named(name="step_labels", part=StepLabels())]),
        needs=frozenset(),
        policy=policy,
        reference=None,
        critic=None,
        penalties=(),
        temperature=1.0,
        settings=Learn(),
    )
    return MonteCarlo(gamma=0.0).credit(measured)


def learner(lr: float = 0.2, **settings: Any) -> Learner:
    policy, critic, optimizer = TinyModel.new(), TinyCritic(), Sgd(lr)
    critic.start(policy, seed=0)
    return Learner(
        policy=policy,
        critic=critic,
        losses=[Named(name="step_cross_entropy", part=StepCrossEntropy())],
        optimizer=optimizer,
        torch_optimizer=optimizer.build(policy.parameters(), critic.parameters()),
        settings=Learn(**settings),
        temperature=1.0,
        seed=0,
        num_updates=99,
    )


def reference(held: Learner) -> float:
    """The mean over all steps, each read in the state after its last token of a rollout computed alone, in plain floats."""
    terms = []
    for task in TASKS:
        [[rollout]] = credited(held.policy, [task])  # type: ignore[arg-type]
        alone = joined([rollout.tokens])
        assert held.critic is not None
        values = held.critic.values(alone, held.policy.hidden(alone)).tolist()
        end = len(rollout.segments[0].tokens) - 1
        for segment, label in zip(rollout.segments[1:], task.extra["step_labels"][0], strict=True):
            end += len(segment.tokens)
            p = 1 / (1 + math.exp(-values[end]))
            terms.append(-label * math.log(p) - (1 - label) * math.log(1 - p))
    assert len(terms) == 9
    return sum(terms) / len(terms)


def test_the_loss_is_the_mean_over_steps() -> None:
    """However the update is cut, in whatever order the tasks come: nine steps of three attempts, each read after its own last token."""
    expected = reference(learner())
    for tasks, settings in (
        (TASKS, {}),
        (TASKS[::-1], {}),
        (TASKS, {"tokens_per_microbatch": 1}),
        (TASKS, {"aggregation": "sequence_mean", "tokens_per_microbatch": 20}),
    ):
        held = learner(**settings)
        found = held.learn(credited(held.policy, tasks), step=0)  # type: ignore[arg-type]
        assert found["losses/step_cross_entropy"] == pytest.approx(expected, rel=1e-9)


def test_a_process_reward_model_learns_its_steps() -> None:
    """Every step comes on its label's side; learnt labels of one attempt differ from step to step."""
    held = learner(lr=0.5, max_grad_norm=100.0)
    groups = credited(held.policy, TASKS)  # type: ignore[arg-type]
    steps = [held.learn(groups, step=step) for step in range(60)]
    assert steps[-1]["losses/step_cross_entropy"] < 0.5 * steps[0]["losses/step_cross_entropy"]
    assert steps[-1]["step_cross_entropy/accuracy"] == 1.0
    assert steps[-1]["step_cross_entropy/right"] > 0.6 > 0.4 > steps[-1]["step_cross_entropy/wrong"]


def test_returns_over_steps_are_no_labels() -> None:
    """gamma = 1 adds labels up: refused, naming the key."""
    held = learner()
    [group] = credited(held.policy, TASKS[:1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the label 2, expected 0 to 1"):
        held.learn(MonteCarlo(gamma=1.0).credit([group]), step=0)  # type: ignore[list-item]
