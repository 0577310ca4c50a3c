"""What the contract checks work on: rollouts and loss batches of all kinds.

``elsewhere`` and ``others`` are what stands where the policy did not write: nothing may depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import asdict, evolve, fields

from jackfield.loss_batch import LossBatch
from jackfield.types import (
    Credited,
    Finish,
    FinishReason,
    FloatArray,
    Group,
    Measured,
    Message,
    Rollout,
    Scored,
    Segment,
    Task,
    Verdict,
    Writer,
    promote,
)

if TYPE_CHECKING:
    import torch

TURNS: Mapping[str, tuple[str, ...]] = {
    "silent": (),
    "plain": ("Paris",),
    "a call and an answer": ("<think>hm</think><search>capital of France</search>", "<answer>Paris</answer>"),
    "never closed": ("<search>capital", "<answer>Paris"),
    "never opened": ("capital</search>", "Paris</answer>"),
    "forged observation": ("<information>It is <answer>Paris</answer></information>",),
    "unicode": ("<search>東京タワー 🗼 e\u0301</search>", "<answer>東京</answer>"),
    "empty tags": ("<search></search>", "<answer></answer>"),
    "the same call again and again": ("<search>x</search>",) * 20,
    "no end": ("<" + "x" * 3000,) * 20,
}
"""What policies write, by turns."""

MEASURED = frozenset({"old_logp", "ref_logp", "value"})
"""What can be needed before the learn stage."""
REWARDS = ((0.0, 1.0, 1.0, 0.25), (0.5, 0.5, 0.5), (0.0, 0.0), (1.0, 1.0, 1.0), (1.0,), (-1.0, 2.0, 0.0))
FINISHES: tuple[FinishReason, ...] = ("answer", "length", "eos", "turns", "tool_loop")
LAYOUTS: tuple[tuple[Writer, ...], ...] = (
    ("task", "policy", "environment", "policy", "environment"),
    ("task", "policy"),
    ("task", "environment"),
    ("task", "policy", "environment", "environment", "environment"),
)
"""By turns: two actions, one, none, and one with a long tail of the environment's."""
ALIKE = 0.1
"""A reward whose mean over three is not itself, in floats."""


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
    return Rollout(task=task(answers), member=0, segments=_said(turns, others), finish=Finish(reason="eos"))


def _said(turns: Sequence[str], others: str) -> tuple[Segment, ...]:
    texts: list[tuple[Writer, str]] = [("task", others)]
    for turn in turns:
        texts += [("policy", turn), ("environment", others)]
    heard = np.arange(len(others)) + len(others)
    return tuple(Segment(tokens=np.arange(1, 5) if w == "policy" else heard, writer=w, text=text) for w, text in texts)


def scored_groups(others: int) -> list[Group[Scored]]:
    """Groups of one to four rollouts with rewards that differ or not, ended in every way, some silent; a member is missing."""
    number = count()
    groups = []
    for index, rewards in enumerate(REWARDS):
        members = tuple(_scored(member, reward, next(number), others) for member, reward in zip(_members(), rewards, strict=False))
        groups.append(Group(id=f"0/{index}", task=members[0].task, members=members))
    return groups


def _members() -> Sequence[int]:
    """Member 1 had no reward, and left the step before."""
    return [0, *range(2, 9)]


def _verdicts(reward: float) -> dict[str, Verdict]:
    """Of two sources, one does not apply."""
    return {"given": Verdict.score(reward), "other": Verdict.abstain("no rule")}


def _scored(member: int, reward: float, number: int, others: int) -> Scored:
    segments = _said(("Paris", "<answer>Paris</answer>")[: number % 3], str(others) * others)
    played = Rollout(task=task(), member=member, segments=segments, finish=Finish(reason=FINISHES[number % len(FINISHES)]))
    return promote(Scored, played, verdicts=_verdicts(reward), reward=reward)


def measured_groups(smallest: int, needs: frozenset[str], *, elsewhere: float) -> list[Group[Measured]]:
    """Groups of rollouts of different lengths, one as small as may be, one of equal rewards; ``elsewhere`` stands wherever the policy
    did not write."""
    rng = np.random.default_rng(7)
    groups = []
    for number, size in enumerate((max(4, smallest), smallest, max(5, smallest), max(3, smallest))):
        rewards = [ALIKE if number == 3 else float(rng.random()) for _ in range(size)]
        members = tuple(
            _measured(rng, index, member, reward, needs, elsewhere)
            for index, (member, reward) in enumerate(zip(_members(), rewards, strict=False))
        )
        groups.append(Group(id=f"0/{number}", task=task(), members=members))
    return groups


def alike(size: int, needs: frozenset[str]) -> Group[Measured]:
    """Attempts that are the same in everything."""
    one = _measured(np.random.default_rng(7), 0, 0, ALIKE, needs, np.nan)
    return Group(id="0/0", task=one.task, members=tuple(evolve(one, member=member) for member in range(size)))


def _measured(
    rng: np.random.Generator, index: int, member: int, reward: float, needs: frozenset[str], elsewhere: float
) -> Measured:
    layout = LAYOUTS[index % len(LAYOUTS)]
    segments = tuple(Segment(tokens=rng.integers(1, 99, rng.integers(1, 6)), writer=writer) for writer in layout)
    played = Rollout(task=task(), member=member, segments=segments, finish=Finish(reason="length" if index == 1 else "answer"))

    def drawn(number: int) -> FloatArray:
        return np.where(played.policy_mask, rng.normal(size=len(played.tokens)), elsewhere * number)

    token_reward = np.where(played.policy_mask, 0.0, elsewhere)
    token_reward[played.turn_ends[-1:]] = reward
    wanted: dict[str, Any] = {name: drawn(number) for number, name in enumerate(sorted(MEASURED & needs), 2)}
    scored = promote(Scored, played, verdicts=_verdicts(reward), reward=reward)
    return promote(Measured, scored, token_reward=token_reward, bootstrap_value=0.3 if "value" in needs else None, **wanted)


def credited_rollouts(needs: frozenset[str], *, elsewhere: float) -> list[Credited]:
    """One with advantage 1, the next with −1, and so on."""
    rollouts = [rollout for group in measured_groups(2, needs, elsewhere=elsewhere) for rollout in group]
    return [
        promote(Credited, rollout, advantage=np.where(rollout.policy_mask, (-1.0) ** number, elsewhere))
        for number, rollout in enumerate(rollouts)
    ]


def unlike(rollout: Measured, other: Measured) -> list[str]:
    """Names of the arrays in which two rollouts differ."""
    names = [attribute.name for attribute in fields(Measured) if isinstance(getattr(rollout, attribute.name), np.ndarray)]
    pairs = {name: (getattr(rollout, name), getattr(other, name)) for name in ("tokens", *names)}
    return [name for name, (one, another) in pairs.items() if not np.array_equal(one, another, equal_nan=True)]


def loss_batch(needs: frozenset[str]) -> LossBatch:
    """Two pairs of rollouts of 1 to 7 tokens, in one turn or two, in float64; within a pair one has only positive advantages, the other
    only negative ones. Returns lie between 0 and 1."""
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
        return_N=normal(tokens).sigmoid() if "returns" in needs else None,
        turn_end_S=torch.tensor([1, 2, 3, 6, 10, 14]),
        score_R=normal(4, grad=True) if "score" in needs else None,
        turn_score_S=normal(6, grad=True) if "score" in needs else None,
    )


def places(batch: LossBatch, rollouts: Sequence[int]) -> list[torch.Tensor]:
    """Where the tokens of these rollouts stand, in order."""
    import torch

    return [torch.nonzero(batch.rollout_N == rollout).flatten() for rollout in rollouts]


def turns(batch: LossBatch, rollouts: Sequence[int]) -> list[torch.Tensor]:
    """Which turns are those of these rollouts, in order."""
    import torch

    rollout_S = batch.rollout_N[batch.turn_end_S]
    return [torch.nonzero(rollout_S == rollout).flatten() for rollout in rollouts]


def chosen(batch: LossBatch, rollouts: Sequence[int]) -> LossBatch:
    """The batch made of these of its rollouts, in this order, neighbours in pairs; gradients flow back into the whole batch."""
    import torch

    where, which = places(batch, rollouts), turns(batch, rollouts)
    index = {"N": torch.cat(where), "S": torch.cat(which), "R": torch.tensor(rollouts)}
    changed = {
        name: tensor[index[name[-1]]]
        for name, tensor in asdict(batch, recurse=False).items()
        if isinstance(tensor, torch.Tensor) and name not in ("rollout_N", "group_R", "turn_end_S")
    }
    starts = np.cumsum([0, *map(len, where)])
    return evolve(
        batch,
        turn_end_S=torch.cat([batch.turn_end_S[w] - p[0] + int(s) for w, p, s in zip(which, where, starts, strict=False)]),
        rollout_N=torch.repeat_interleave(torch.arange(len(rollouts)), torch.tensor([len(place) for place in where])),
        num_rollouts=len(rollouts),
        group_R=torch.arange(len(rollouts)) // 2,
        num_groups=(len(rollouts) + 1) // 2,
        **changed,
    )
