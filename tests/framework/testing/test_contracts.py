"""Each check must find the fault it is for: a component that breaks one promise, and no other, is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from attrs import evolve

from jackfield.rollout import Episode
from jackfield.stages import LossBatch, LossTerms
from jackfield.testing.contracts import check_advantage, check_environment, check_filter, check_loss, check_reward, check_tool
from jackfield.testing.fakes import ScriptedTool
from jackfield.types import Credited, Group, Measured, Observation, Rollout, Scored, Task, Verdict, promote


class Judge:
    """A reward made of a function."""

    def __init__(self, judge: Callable[[Rollout], Any]) -> None:
        self._judge = judge

    def judge(self, rollout: Rollout) -> Any:
        return self._judge(rollout)


async def patient(rollout: Rollout) -> Verdict:
    return Verdict.score(1.0)


@pytest.mark.parametrize("judge", [lambda r: Verdict.score(len(r.completion)), lambda r: Verdict.abstain("no rule"), patient])
def test_good_rewards_pass(judge: Callable[[Rollout], Any]) -> None:
    """Scores, abstentions with a reason and asynchronous judges are sound."""
    check_reward(Judge(judge))


@pytest.mark.parametrize(
    ("judge", "found"),
    [
        (lambda r: 1.0, "not a Verdict"),
        (lambda r: Verdict.score(float("nan")), "the score is nan"),
        (lambda r: Verdict.abstain(""), "without a reason"),
        (lambda r: Verdict.score(r.task.answers[0] in r.completion), "judging raised IndexError"),
        (lambda r: Verdict.score("Paris" in "".join(s.text for s in r.segments)), "did not write"),
    ],
)
def test_bad_rewards_are_found(judge: Callable[[Rollout], Any], found: str) -> None:
    """A bare float, a score that is not finite, a crash, or reading the prompt is named."""
    with pytest.raises(AssertionError, match=found):
        check_reward(Judge(judge))


class OneTurn:
    async def play(self, episode: Episode) -> Rollout:
        episode.start(episode.task.prompt)
        turn = await episode.generate(20)
        episode.observe("seen")
        return episode.finish("eos" if turn.ended_by == "eos" else "length")


class Crashing(OneTurn):
    async def play(self, episode: Episode) -> Rollout:
        raise RuntimeError("boom")


class CrashingLate(OneTurn):
    async def play(self, episode: Episode) -> Rollout:
        await super().play(episode)
        raise RuntimeError("boom")


class Claiming(OneTurn):
    async def play(self, episode: Episode) -> Rollout:
        rollout = await super().play(episode)
        return evolve(rollout, segments=tuple(evolve(s, writer="policy") for s in rollout.segments))


class Remembering(OneTurn):
    episode: Episode

    async def play(self, episode: Episode) -> Rollout:
        self.episode = episode
        episode.start(episode.task.prompt)
        await episode.generate(20)
        self.episode.observe("seen")
        return episode.finish("eos")


class CountingNan(OneTurn):
    async def play(self, episode: Episode) -> Rollout:
        episode.count("shares", float("nan"))
        return await super().play(episode)


def test_good_environment_passes() -> None:
    """An environment that plays by the episode is sound."""
    check_environment(OneTurn(), {})


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        (Crashing(), "no conversation was started"),
        (CrashingLate(), "RuntimeError: boom"),
        (Claiming(), "not just what was sampled"),
        (Remembering(), "not those that the engine saw|disturb each other|failed"),
        (CountingNan(), "counters are not finite"),
    ],
)
def test_bad_environments_are_found(environment: OneTurn, found: str) -> None:
    """Crashes, claimed tokens, state shared by rollouts and senseless counters are named."""
    with pytest.raises(AssertionError, match=found):
        check_environment(environment, {})


def test_missing_tools_are_found() -> None:
    """An environment's own list of tools is held against what it is given."""
    environment = OneTurn()
    environment.requires_tools = ("search",)  # type: ignore[attr-defined]
    with pytest.raises(AssertionError, match="search"):
        check_environment(environment, {})
    check_environment(environment, {"search": ScriptedTool()})


class Answers(ScriptedTool):
    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    async def call(self, text: str) -> Any:
        return self.answer


def test_good_tool_passes() -> None:
    """Parts or a failure to read are sound."""
    check_tool(ScriptedTool())
    check_tool(ScriptedTool(parts=(), failure="closed"))


@pytest.mark.parametrize(
    ("tool", "found"),
    [
        (ScriptedTool(name="web search"), "one word"),
        (Answers("text"), "not an Observation"),
        (Answers(Observation(parts="text")), "not a tuple"),  # type: ignore[arg-type]
        (Answers(Observation(failure=" ")), "says nothing"),
        (Answers(Observation(parts=("x",), counters={"hits": float("inf")})), "counters"),
    ],
)
def test_bad_tools_are_found(tool: ScriptedTool, found: str) -> None:
    """What the policy could not read is named."""
    with pytest.raises(AssertionError, match=found):
        check_tool(tool)


class Estimate:
    """An advantage made of a function from a group to one array a member."""

    smallest_group: int = 1
    uses_reward: bool = True
    gives_returns: bool = True
    needs: ClassVar[frozenset[str]] = frozenset({"value"})

    def __init__(self, estimate: Callable[[Group[Measured]], list[Any]]) -> None:
        self.estimate = estimate

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        return [
            Group(
                id=g.id,
                task=g.task,
                members=tuple(promote(Credited, r, advantage=a) for r, a in zip(g, self.estimate(g), strict=True)),
            )
            for g in groups
        ]


def reward_of(rollout: Measured) -> float:
    assert rollout.reward is not None
    return rollout.reward


def centred(group: Group[Measured]) -> list[Any]:
    mean = np.mean([reward_of(r) for r in group])
    return [np.full(len(r.tokens), reward_of(r) - mean) for r in group]


def first_is_best(group: Group[Measured]) -> list[Any]:
    return [np.full(len(r.tokens), reward_of(r) - reward_of(group.members[0])) for r in group]


def values_anywhere(group: Group[Measured]) -> list[Any]:
    return [np.full(len(r.tokens), np.nansum(r.value)) for r in group]  # type: ignore[arg-type]


def in_place(group: Group[Measured]) -> list[Any]:
    for rollout in group:
        rollout.token_reward[:] += 1
    return [np.where(r.policy_mask, r.token_reward, 0) for r in group]


@pytest.mark.parametrize(
    ("estimate", "found"),
    [
        (lambda g: [r.token_reward[1:] for r in g], "shape"),
        (lambda g: [r.token_reward / 0 for r in g], "not finite"),
        (first_is_best, "order of groups and members"),
        (values_anywhere, "masked positions"),
        (in_place, "earlier calls|order of groups"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_bad_advantages_are_found(estimate: Callable[[Group[Measured]], list[Any]], found: str) -> None:
    """Wrong shapes, infinite values, dependence on order, on masked positions or on earlier calls are named."""
    with pytest.raises(AssertionError, match=found):
        check_advantage(Estimate(estimate))


def test_good_advantage_passes() -> None:
    """A centred reward is sound."""
    check_advantage(Estimate(centred))


class Baseline(Estimate):
    """An estimator that learns from step to step; ``forgets`` breaks its ``restore``."""

    def __init__(self, *, forgets: bool = False, moves_at_once: bool = False) -> None:
        super().__init__(self.against_mean)
        self.mean = 0.0
        self.forgets = forgets
        self.moves_at_once = moves_at_once

    def against_mean(self, group: Group[Measured]) -> list[Any]:
        given = [np.full(len(r.tokens), reward_of(r) - self.mean) for r in group]
        self.mean += self.moves_at_once * 1.0
        return given

    def after_step(self, metrics: Mapping[str, float]) -> None:
        self.mean = metrics["reward/mean"]

    def state(self) -> dict[str, float]:
        return {"mean": self.mean}

    def restore(self, state: Mapping[str, float]) -> None:
        self.mean = 7.0 if self.forgets else state["mean"]


def test_what_is_learnt_from_step_to_step() -> None:
    """A baseline that moves after the step is sound; one that moves while crediting, or is not taken back, is named."""
    check_advantage(Baseline())
    with pytest.raises(AssertionError, match="earlier calls"):
        check_advantage(Baseline(moves_at_once=True))
    with pytest.raises(AssertionError, match=r"restore\(\) of"):
        check_advantage(Baseline(forgets=True))


def test_after_step_needs_state() -> None:
    """Without it the run never calls it."""
    estimate = Estimate(centred)
    estimate.after_step = lambda metrics: None  # type: ignore[attr-defined]
    with pytest.raises(AssertionError, match="only called where"):
        check_advantage(estimate)


class Keep:
    """A filter made of a function."""

    def __init__(self, keep: Callable[[Sequence[Group[Scored]]], Any]) -> None:
        self.function = keep

    def keep(self, groups: Sequence[Group[Scored]]) -> Any:
        return self.function(groups)


class Once:
    """Keeps everything, once."""

    called = False

    def keep(self, groups: Sequence[Group[Scored]]) -> list[Group[Scored]]:
        self.called, before = True, self.called
        return [] if before else list(groups)


def trimmed(groups: Sequence[Group[Scored]]) -> list[Group[Scored]]:
    return [evolve(g, members=g.members[1:]) for g in groups if len(g) > 1]


def read_the_prompt(groups: Sequence[Group[Scored]]) -> list[Group[Scored]]:
    return [g for g in groups if g.members[0].segments[0].text == "7"]


@pytest.mark.parametrize("keep", [list, trimmed, lambda groups: [], lambda groups: [g for g in groups if len(g) > 2]])
def test_good_filters_pass(keep: Callable[[Sequence[Group[Scored]]], Any]) -> None:
    """Everything, nothing, some groups or some members: all are sound."""
    check_filter(Keep(keep))


@pytest.mark.parametrize(
    ("part", "found"),
    [
        (Keep(lambda gs: gs[::-1]), "another order"),
        (Keep(lambda gs: [gs[0], gs[0]]), "given twice"),
        (Keep(lambda gs: [evolve(gs[0], id="new")]), "groups were added"),
        (Keep(lambda gs: [evolve(gs[0], task=Task(id="other", prompt=()))]), "another task"),
        (Keep(lambda gs: [evolve(gs[0], members=())]), "is empty"),
        (Keep(lambda gs: [evolve(gs[0], members=gs[0].members[::-1])]), "members of group 0/0 were put in another order"),
        (Keep(lambda gs: [evolve(gs[0], members=gs[0].members[:1] * 2)]), "another order"),
        (Keep(lambda gs: [evolve(gs[0], members=tuple(evolve(r, reward=1.0) for r in gs[0]))]), "changed or added"),
        (Keep(lambda gs: [evolve(gs[0], members=gs[1].members)]), "changed or added"),
        (Keep(read_the_prompt), "masked positions"),
        (Once(), "earlier calls"),
    ],
)
def test_bad_filters_are_found(part: Any, found: str) -> None:
    """Another order, anything new or changed, empty groups, what the policy did not write and memory are named."""
    with pytest.raises(AssertionError, match=found):
        check_filter(part)


class Term:
    """A loss made of a function."""

    needs: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, terms: Callable[[LossBatch], Any], unit: Literal["token", "rollout"] = "token") -> None:
        self.function = terms
        self.unit = unit

    def terms(self, batch: LossBatch) -> LossTerms:
        found = self.function(batch)
        return found if isinstance(found, LossTerms) else LossTerms(term=found)


def per_rollout(batch: LossBatch) -> Any:
    return batch.logp_N.new_zeros(batch.num_rollouts).index_add(0, batch.rollout_N, batch.logp_N)


def test_good_losses_pass() -> None:
    """Terms by token and by rollout are sound."""
    check_loss(Term(lambda b: -b.logp_N * b.advantage_N))
    check_loss(Term(per_rollout, "rollout"))


@pytest.mark.parametrize(
    ("loss", "found"),
    [
        (Term(lambda b: -b.logp_N.mean()), "shape"),
        (Term(lambda b: -b.logp_N, "rollout"), "shape"),
        (Term(lambda b: -b.logp_N / len(b.logp_N)), "never divide"),
        (Term(lambda b: b.logp_N.log()), "not finite"),
        (Term(lambda b: (b.logp_N - b.logp_N.detach()).abs().sqrt()), "gradient of logp_N"),
        (Term(lambda b: b.logp_N * (b.rollout_N == 0)), "never divide|order"),
        (Term(lambda b: LossTerms(term=b.logp_N, metrics={"x": b.logp_N})), "metric 'x' is not detached"),
        (Term(lambda b: LossTerms(term=b.logp_N, metrics={"x": b.logp_N.detach().sum()})), "one value a unit"),
    ],
)
def test_bad_losses_are_found(loss: Term, found: str) -> None:
    """Means, division, wrong units, infinite terms or gradients, dependence on the row and attached metrics are named."""
    with pytest.raises(AssertionError, match=found):
        check_loss(loss)


def test_unknown_needs_are_found() -> None:
    """A need that nobody fills is named."""
    loss = Term(lambda b: b.logp_N)
    loss.needs = frozenset({"entropie"})  # type: ignore[misc]
    with pytest.raises(AssertionError, match="entropie"):
        check_loss(loss)
