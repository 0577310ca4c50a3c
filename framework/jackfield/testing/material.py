"""What the contract checks work on: rollouts and loss batches of all kinds.

``elsewhere`` and ``others`` are what stands where the policy did not write: nothing may depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import asdict, evolve

from jackfield.stages import LossBatch
from jackfield.types import Finish, FinishReason, Group, Measured, Message, Rollout, Scored, Segment, Task, Verdict, Writer, promote

if TYPE_CHECKING:
    import torch

REWARDS = ((0.0, 1.0, 1.0, 0.25), (0.5, 0.5, 0.5), (0.0, 0.0), (1.0, 1.0, 1.0), (1.0,), (-1.0, 2.0, 0.0))
FINISHES: tuple[FinishReason, ...] = ("answer", "length", "eos", "turns", "tool_loop")


def task(answers: tuple[str, ...] = ("Paris",)) -> Task:
    """A question with these gold answers."""
    return Task(
        id="contract/1",
        prompt=(Message(role="user", content="What is the capital of France?"),),
        answers=answers,
        origin="contract:1",
    )


def spoken(turns: Sequence[str], answers: tuple[str, ...], others: str = "?") -> Rollout:
    """Turns of the policy with an observation after each; ``others`` is all that prompt and observations say."""
    texts: list[tuple[Writer, str]] = [("task", others)]
    for turn in turns:
        texts += [("policy", turn), ("environment", others)]
    segments = tuple(Segment(tokens=np.arange(1, 5), writer=writer, text=text) for writer, text in texts)
    return Rollout(task=task(answers), member=0, segments=segments, finish=Finish(reason="eos"))


def scored_groups(others: int) -> list[Group[Scored]]:
    """Groups of one to four rollouts with rewards that differ or not, ended in every way, some silent."""
    number = count()
    groups = []
    for index, rewards in enumerate(REWARDS):
        members = tuple(_scored(member, reward, next(number), others) for member, reward in enumerate(rewards))
        groups.append(Group(id=f"0/{index}", task=members[0].task, members=members))
    return groups


def _scored(member: int, reward: float, number: int, others: int) -> Scored:
    turns = ("Paris", "<answer>Paris</answer>")[: number % 3]
    texts: list[tuple[Writer, str]] = [("task", str(others))]
    for turn in turns:
        texts += [("policy", turn), ("environment", str(others))]
    segments = tuple(
        Segment(tokens=np.arange(1, 5) + (writer != "policy") * others, writer=writer, text=text) for writer, text in texts
    )
    finish = Finish(reason=FINISHES[number % len(FINISHES)])
    played = Rollout(task=task(), member=member, segments=segments, finish=finish)
    return promote(Scored, played, verdicts={"given": Verdict.score(reward)}, reward=reward)


def measured_groups(size: int, needs: frozenset[str], *, elsewhere: float) -> list[Group[Measured]]:
    """Four groups of rollouts of different lengths; ``elsewhere`` stands wherever the policy did not write. The last group's are all equal."""
    rng = np.random.default_rng(7)
    groups = []
    for number in range(4):
        members = tuple(
            _measured(rng, member, 0.5 if number == 3 else float(rng.random()), needs, elsewhere) for member in range(size)
        )
        groups.append(Group(id=f"0/{number}", task=task(), members=members))
    return groups


def _measured(rng: np.random.Generator, member: int, reward: float, needs: frozenset[str], elsewhere: float) -> Measured:
    writers: tuple[Writer, ...] = ("task", "policy", "environment", "policy", "environment")
    segments = tuple(Segment(tokens=rng.integers(1, 99, rng.integers(2, 6)), writer=writer) for writer in writers)
    played = Rollout(task=task(), member=member, segments=segments, finish=Finish(reason="length" if member == 1 else "answer"))

    def drawn() -> Any:
        return np.where(played.policy_mask, rng.normal(size=len(played.tokens)), elsewhere)

    token_reward = np.where(played.policy_mask, 0.0, elsewhere)
    token_reward[played.turn_ends[-1]] = reward
    wanted = {name: drawn() for name in ("old_logp", "ref_logp", "value") if name in needs}
    return Measured(
        task=played.task,
        member=member,
        segments=segments,
        finish=played.finish,
        verdicts={"given": Verdict.score(reward)},
        reward=reward,
        token_reward=token_reward,
        bootstrap_value=0.3 if "value" in needs else None,
        **wanted,
    )


def loss_batch(needs: frozenset[str]) -> LossBatch:
    """Two pairs of rollouts of 1 to 7 tokens in float64; within a pair one has only positive advantages, the other only negative ones."""
    import torch

    draw = torch.Generator().manual_seed(7)
    rollout_N = torch.repeat_interleave(torch.arange(4), torch.tensor([3, 1, 7, 4]))
    side_R = torch.tensor([1.0, -1.0, -1.0, 1.0], dtype=torch.float64)

    def normal(size: int, *, grad: bool = False, shift: float = 0.0) -> torch.Tensor:
        return (torch.randn(size, generator=draw, dtype=torch.float64) * 0.3 + shift).requires_grad_(grad)

    tokens, valued = len(rollout_N), "value" in needs
    return LossBatch(
        logp_N=normal(tokens, grad=True, shift=-2),
        old_logp_N=normal(tokens, shift=-2),
        rollout_N=rollout_N,
        num_rollouts=4,
        group_R=torch.tensor([0, 0, 1, 1]),
        num_groups=2,
        advantage_N=normal(tokens).abs() * side_R[rollout_N],
        ref_logp_N=normal(tokens, shift=-2) if "ref_logp" in needs else None,
        entropy_N=normal(tokens, grad=True, shift=2),
        value_N=normal(tokens, grad=True) if valued else None,
        old_value_N=normal(tokens) if valued else None,
        return_N=normal(tokens) if valued else None,
        score_R=normal(4, grad=True) if "score" in needs else None,
    )


def chosen(batch: LossBatch, rollouts: Sequence[int]) -> LossBatch:
    """The batch made of these of its rollouts, in this order, the pairs side by side; detached."""
    import torch

    places = [torch.nonzero(batch.rollout_N == rollout).flatten() for rollout in rollouts]
    index = {"N": torch.cat(places), "R": torch.tensor(rollouts)}
    changed = {
        name: tensor.detach()[index[name[-1]]]
        for name, tensor in asdict(batch, recurse=False).items()
        if isinstance(tensor, torch.Tensor) and name not in ("rollout_N", "group_R")
    }
    lengths = torch.tensor([len(place) for place in places])
    return evolve(
        batch,
        rollout_N=torch.repeat_interleave(torch.arange(len(rollouts)), lengths),
        num_rollouts=len(rollouts),
        group_R=torch.arange(len(rollouts)) // 2,
        num_groups=len(rollouts) // 2,
        **changed,
    )
