"""Two tools in one rollout, and what each call earned at its own turn: played, judged, credited, learnt from."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from attrs import define, evolve, field

from jackfield.corridor import Named
from jackfield.learn import Learner
from jackfield.loss_batch import LossBatch, LossTerms
from jackfield.measure import measure
from jackfield.reward import score
from jackfield.rollout import Players, play
from jackfield.settings import Learn
from jackfield.testing.fakes import CharTokenizer, ScriptedEngine, ScriptedTool
from jackfield.testing.tiny_model import NumberTokenizer, Sgd, TinyModel, TinyTransformer
from jackfield.types import Group, Measured, Message, Rollout, Task
from jackfield_calculator.tool import Calculator
from jackfield_credit.gae import Gae
from jackfield_credit.monte_carlo import MonteCarlo
from jackfield_environments.tagged_tools import TaggedTools
from jackfield_verifiers.answers import ExactMatch
from jackfield_verifiers.calls import ToolCalls

TASK = Task(id="q", prompt=(Message(role="user", content="How long did he live?"),), answers=("70",))
SCRIPT = (
    "<search>he</search>",
    "<calculator>1988 - </calculator>",
    "<calculator>1988 - 1918</calculator>",
    "<answer>70</answer>",
)
EARNED = (0.25, -0.5, 0.25, 1.0)
"""By turn: a call that succeeded, one that failed, one that succeeded, the answer."""
REWARDS = [Named(name="exact_match", part=ExactMatch()), Named(name="tool_calls", part=ToolCalls(reward=0.25, cost=0.5))]


def played() -> list[Group[Rollout]]:
    tokenizer = CharTokenizer()
    environment = TaggedTools(template="{question}", tool_tags={"search": "search", "calculator": "calculator"})
    tools = {"search": ScriptedTool(parts=("Born 1918. Died 1988.",)), "calculator": Calculator()}
    engine = ScriptedEngine(tokenizer, SCRIPT)
    players = Players(environment=environment, engine=engine, tokenizer=tokenizer, tools=tools, run_seed=0)
    return play(players, [TASK], step=0, group_size=1, temperature=1.0)


def measured() -> Group[Measured]:
    """Judged, with the rewards on their tokens, and a critic that says 0.5 everywhere."""
    policy = TinyModel(TinyTransformer(), NumberTokenizer())
    [group] = measure(
        score(played(), REWARDS),
        needs=frozenset(),
        policy=policy,
        reference=None,
        critic=None,
        penalties=(),
        temperature=1.0,
        settings=Learn(),
    )
    valued = (evolve(r, value=np.where(r.policy_mask, 0.5, np.nan), bootstrap_value=0.5) for r in group)
    return Group(id=group.id, task=group.task, members=tuple(valued))


def turns_of(rollout: Rollout, values: Any) -> list[list[float]]:
    """The values of a per-token array, turn by turn of the policy."""
    ends = np.cumsum([len(s.tokens) for s in rollout.segments])
    return [
        values[end - len(s.tokens) : end].tolist() for end, s in zip(ends, rollout.segments, strict=True) if s.writer == "policy"
    ]


def test_both_tools_are_called_and_answer() -> None:
    """By their tags; a failure is read and mended; whatever the tools gave is the environment's."""
    [[rollout]] = played()
    assert [s.text for s in rollout.segments if s.writer == "policy"] == list(SCRIPT)
    assert [s.text.strip() for s in rollout.segments if s.writer == "environment"] == [
        "<information>Born 1918. Died 1988.</information>",
        "<information>The call failed: cannot compute '1988 -'; write numbers, + - * / // % ** and brackets only</information>",
        "<information>70</information>",
    ]
    assert rollout.finish.reason == "answer"
    expected = {"search_calls": 1, "search_failures": 0, "calculator_calls": 2, "calculator_failures": 1, "turns": 4}
    assert {name: rollout.counters[name] for name in expected} == expected


def test_what_a_call_earned_lies_on_the_last_token_of_its_turn() -> None:
    """The reward is their sum; the answer's part is the last turn's; nothing lies anywhere else."""
    [rollout] = measured()
    assert rollout.reward == 1.0
    assert [turn[-1] for turn in turns_of(rollout, rollout.token_reward)] == pytest.approx(EARNED, abs=1e-12)
    assert np.count_nonzero(rollout.token_reward) == 4
    assert (rollout.token_reward[~rollout.policy_mask] == 0).all()


def test_monte_carlo_credits_a_turn_with_what_came_from_it_on() -> None:
    """0.25 − 0.5 + 0.25 + 1 = 1; then 0.75, 1.25 and 1: the failed call lowers its own turn and those before it, not those after."""
    group = measured()
    [[credited]] = MonteCarlo().credit([group])
    for turn, value in zip(turns_of(credited, credited.advantage), (1.0, 0.75, 1.25, 1.0), strict=True):
        assert turn == pytest.approx([value] * len(turn), abs=1e-12)


@pytest.mark.parametrize(("lam", "first"), [(0.0, (0.0, 0.0, 0.0, 0.0)), (1.0, (0.5, 0.25, 0.75, 0.5))])
def test_gae_credits_the_turn(lam: float, first: tuple[float, ...]) -> None:
    """A critic that says 0.5 everywhere. λ = 0: all of a turn's credit is on its last token, r + V − V, at the end 1 + 0 − 0.5. λ = 1:
    the return to go less 0.5 on every token."""
    [[credited]] = Gae(lam=lam, whiten=False).credit([measured()])
    turns = turns_of(credited, credited.advantage)
    last = (0.25, -0.5, 0.25, 0.5) if lam == 0 else first
    assert [turn[-1] for turn in turns] == pytest.approx(last, abs=1e-12)
    for turn, value in zip(turns, first, strict=True):
        assert turn[:-1] == pytest.approx([value] * (len(turn) - 1), abs=1e-12)


@define(eq=False)
class Seen:
    """The policy gradient, keeping the batch it got."""

    batches: list[LossBatch] = field(factory=list)
    unit: ClassVar[Literal["token"]] = "token"

    def terms(self, batch: LossBatch) -> LossTerms:
        self.batches.append(batch)
        return LossTerms(term=-batch.advantage_N * batch.logp_N)


def test_what_the_tools_gave_carries_no_loss() -> None:
    """A loss meets the tokens of the policy's turns and no other, with the credit of their turns."""
    groups = MonteCarlo().credit([measured()])
    policy = TinyModel(TinyTransformer(vocabulary=128, positions=1024), NumberTokenizer())
    loss, optimizer = Seen(), Sgd()
    learner = Learner(
        policy=policy,
        critic=None,
        losses=[Named(name="seen", part=loss)],
        optimizer=optimizer,
        torch_optimizer=optimizer.build(policy.parameters(), []),
        settings=Learn(),
        temperature=1.0,
        seed=0,
        num_updates=1,
    )
    learner.learn(groups, step=0)
    [batch] = loss.batches
    expected = [value for text, value in zip(SCRIPT, (1.0, 0.75, 1.25, 1.0), strict=True) for _ in text]
    assert batch.advantage_N.tolist() == pytest.approx(expected, abs=1e-6)
