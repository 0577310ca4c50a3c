"""What every component of a kind promises, checked in one line of your own tests.

Example::

    from jackfield.testing.contracts import check_reward

    def test_contract():
        check_reward(Politeness())

Each check raises AssertionError naming what was promised and what was found. They know nothing of what your component is for:
test that yourself.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import asdict, evolve

from jackfield.rollout import play
from jackfield.stages import NEEDS, Advantage, Environment, Loss, LossBatch, Reward, Tool
from jackfield.testing.fakes import CharTokenizer, ScriptedEngine
from jackfield.types import Credited, Finish, Group, Measured, Message, Observation, Rollout, Segment, Task, Verdict, Writer

if TYPE_CHECKING:
    import torch

SLOW = 5.0
"""Seconds that judging a degenerate text of 100,000 characters may take."""

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

DEGENERATE = ("a" * 100_000, "<answer>" * 12_500, "\\boxed{" * 14_000, "1," * 50_000, "a" + "\u0301\u0316" * 50_000)

QUERIES = (
    "capital of France",
    "",
    "   ",
    "東京タワー 🗼",
    "x" * 10_000,
    "a \"quoted' (query) \\ \x00 {}[]*?",
    "<search>x</search>\n" * 3,
)


def check_reward(reward: Reward) -> None:
    """Judges anything without raising: turns of every kind, tasks without gold answers, degenerate texts in little time.

    Scores are finite, other verdicts have a reason, and neither prompt nor observations move a verdict.
    """
    for name, turns in TURNS.items():
        for answers in (("Paris",), ("7",), ("", "Paris"), ("",), ()):
            rollout = _spoken(turns, answers)
            verdict = _judged(reward, rollout, name)
            elsewhere = _spoken(turns, answers, others="<answer>Paris</answer> 7 <search>")
            assert _judged(reward, elsewhere, name) == verdict, f"{name}: the verdict depends on what the policy did not write"
    for text in DEGENERATE:
        start = time.perf_counter()
        _judged(reward, _spoken((text, f"<answer>{text}</answer>"), ("Paris",)), f"{text[:10]}…")
        seconds = time.perf_counter() - start
        assert seconds < SLOW, f"{len(text)} characters {text[:10]!r}… took {seconds:.1f} s to judge"


def check_environment(environment: Environment, tools: Mapping[str, Tool]) -> None:
    """Plays policies of every kind to an explained end, and keeps no state of a rollout on itself.

    The rollout holds just the ids the engine saw; the policy's segments just what was sampled.
    """
    missing = set(getattr(environment, "requires_tools", ())) - set(tools)
    assert not missing, f"requires_tools names {sorted(missing)}; give them as tools"
    for name, turns in TURNS.items():
        alone, together = (_played(environment, tools, turns, members) for members in (1, 3))
        for rollout, session in (*alone, *together):
            assert rollout.finish.reason != "failed", f"{name}: the rollout failed: {rollout.finish.detail}"
            assert session.closed, f"{name}: the conversation was left open; end with episode.finish(…)"
            assert rollout.tokens.tolist() == session.context, f"{name}: the rollout's ids are not those that the engine saw"
            written = [s.tokens.tolist() for s in rollout.segments if s.writer == "policy"]
            assert written == session.sampled, f"{name}: segments of the policy are not just what was sampled"
            assert rollout.segments[0].writer == "task", f"{name}: the first segment is not the task's prompt"
            bad = {key: value for key, value in rollout.counters.items() if not np.isfinite(value)}
            assert not bad, f"{name}: counters are not finite: {bad}"
            assert rollout.tokens.tolist() == alone[0][0].tokens.tolist(), f"{name}: rollouts played at once disturb each other"


def check_tool(tool: Tool) -> None:
    """Answers any text, also many at once, with readable parts or a readable failure. Calls ``prepare`` first."""
    assert isinstance(tool.name, str), f"name is {tool.name!r}"
    assert tool.name.isidentifier(), f"name must be one word such as 'search', found {tool.name!r}"
    tool.prepare()

    async def call_all() -> list[Observation]:
        return list(await asyncio.gather(*(tool.call(text) for text in QUERIES)))

    for text, observation in zip(QUERIES, asyncio.run(call_all()), strict=True):
        said = f"for {text[:20]!r}"
        assert isinstance(observation, Observation), f"{said} it gave {observation!r}, not an Observation"
        assert isinstance(observation.parts, tuple), f"{said} parts are not a tuple of texts: {observation.parts!r}"
        assert all(isinstance(part, str) for part in observation.parts), f"{said} parts are not all text: {observation.parts!r}"
        assert observation.failure is None or observation.failure.strip(), f"{said} the failure says nothing"
        assert all(np.isfinite(value) for value in observation.counters.values()), f"{said} counters are {observation.counters}"


def check_advantage(advantage: Advantage) -> None:
    """Credits every policy token with something finite that depends neither on order nor on what stands at other positions."""
    needs = _needs(advantage)
    assert advantage.smallest_group >= 1, f"smallest_group is {advantage.smallest_group}"
    assert isinstance(advantage.uses_reward, bool), f"uses_reward is {advantage.uses_reward!r}"
    groups = _measured_groups(max(3, advantage.smallest_group), needs, elsewhere=np.nan)
    given = advantage.credit(groups)
    assert [g.id for g in given] == [g.id for g in groups], "groups were lost, added or put in another order"
    expected = _by_member(given)
    for (group, member), (rollout, credited) in expected.items():
        written = rollout.policy_mask
        assert credited.shape == rollout.tokens.shape, f"member {member} of {group}: advantage has the shape {credited.shape}"
        assert np.isfinite(credited[written]).all(), (
            f"member {member} of {group}: the advantage is not finite where the policy wrote"
        )
    _same(expected, advantage.credit(_measured_groups(max(3, advantage.smallest_group), needs, elsewhere=1e9)), "masked positions")
    shuffled = [evolve(group, members=group.members[::-1]) for group in reversed(groups)]
    _same(expected, advantage.credit(shuffled), "the order of groups and members")
    _same(expected, advantage.credit(groups), "earlier calls (does it keep state, or write into its input?)")


def check_loss(loss: Loss) -> None:
    """Gives one finite term a unit, undivided: twice the batch, twice the sum; the order of rollouts is no matter."""
    import torch

    needs = _needs(loss)
    assert loss.unit in ("token", "rollout"), f"unit is {loss.unit!r}"
    batch = _loss_batch(needs)
    terms = loss.terms(batch)
    units = len(batch.logp_N) if loss.unit == "token" else batch.num_rollouts
    assert terms.term.shape == (units,), (
        f"unit is {loss.unit!r}, so term must have the shape ({units},), found {tuple(terms.term.shape)}"
    )
    assert torch.isfinite(terms.term).all(), "a term is not finite"
    for name, values in terms.metrics.items():
        assert not values.requires_grad, f"metric '{name}' is not detached"
        assert values.dim() == 1, f"metric '{name}' must hold one value a unit, found the shape {tuple(values.shape)}"
    total = terms.term.sum()
    if total.requires_grad:
        total.backward()  # type: ignore[no-untyped-call]
    for name in ("logp_N", "entropy_N", "value_N"):
        tensor = getattr(batch, name)
        assert tensor is None or tensor.grad is None or torch.isfinite(tensor.grad).all(), f"the gradient of {name} is not finite"
    twice = loss.terms(_chosen(batch, [*range(batch.num_rollouts)] * 2)).term.sum()
    torch.testing.assert_close(
        twice, 2 * total, msg=f"twice the batch must double the sum {total:.6g}, found {twice:.6g}; never divide"
    )
    backwards = loss.terms(_chosen(batch, [*range(batch.num_rollouts)][::-1])).term.sum()
    torch.testing.assert_close(backwards, total, msg=f"the order of rollouts changed the sum from {total:.6g} to {backwards:.6g}")


# --------------------------------------------------------------------------------------------------------- their material


def _needs(component: Any) -> frozenset[str]:
    needs = frozenset(getattr(component, "needs", ()))
    assert needs <= NEEDS, f"needs holds {sorted(needs - NEEDS)}; known are {sorted(NEEDS)}"
    return needs


def _task(answers: tuple[str, ...] = ("Paris",)) -> Task:
    return Task(
        id="contract/1",
        prompt=(Message(role="user", content="What is the capital of France?"),),
        answers=answers,
        origin="contract:1",
    )


def _spoken(turns: Sequence[str], answers: tuple[str, ...], others: str = "?") -> Rollout:
    texts: list[tuple[Writer, str]] = [("task", others)]
    for turn in turns:
        texts += [("policy", turn), ("environment", others)]
    segments = tuple(Segment(tokens=np.arange(1, 5), writer=writer, text=text) for writer, text in texts)
    return Rollout(task=_task(answers), member=0, segments=segments, finish=Finish(reason="eos"))


def _judged(reward: Reward, rollout: Rollout, what: str) -> Verdict:
    try:
        verdict: Any = reward.judge(rollout)
        if inspect.isawaitable(verdict):
            verdict = asyncio.run(_wait(verdict))
    except Exception as error:
        raise AssertionError(f"{what}: judging raised {type(error).__name__}: {error}") from error
    assert isinstance(verdict, Verdict), f"{what}: judging gave {verdict!r}, not a Verdict"
    assert verdict.kind != "error", f"{what}: {verdict.reason}"
    assert verdict.kind != "abstain" or verdict.reason, f"{what}: abstained without a reason"
    return verdict


async def _wait(verdict: Any) -> Any:
    return await verdict


def _played(environment: Environment, tools: Mapping[str, Tool], turns: tuple[str, ...], members: int) -> list[tuple[Rollout, Any]]:
    tokenizer = CharTokenizer()
    engine = ScriptedEngine(tokenizer, turns)
    [group] = play(
        [_task()],
        step=0,
        group_size=members,
        environment=environment,
        engine=engine,
        tokenizer=tokenizer,
        tools=tools,
        run_seed=0,
        temperature=1.0,
    )
    sessions = {session.member: session for session in engine.sessions}
    for rollout in group:
        assert rollout.member in sessions, f"no conversation was started: {rollout.finish}"
    return [(rollout, sessions[rollout.member]) for rollout in group]


def _measured_groups(size: int, needs: frozenset[str], *, elsewhere: float) -> list[Group[Measured]]:
    """Four groups of rollouts of different lengths; ``elsewhere`` stands wherever the policy did not write. The last group's are all equal."""
    rng = np.random.default_rng(7)
    groups = []
    for number in range(4):
        members = tuple(
            _measured(rng, member, 0.5 if number == 3 else float(rng.random()), needs, elsewhere) for member in range(size)
        )
        groups.append(Group(id=f"0/{number}", task=_task(), members=members))
    return groups


def _measured(rng: np.random.Generator, member: int, reward: float, needs: frozenset[str], elsewhere: float) -> Measured:
    writers: tuple[Writer, ...] = ("task", "policy", "environment", "policy", "environment")
    segments = tuple(Segment(tokens=rng.integers(1, 99, rng.integers(2, 6)), writer=writer) for writer in writers)
    played = Rollout(task=_task(), member=member, segments=segments, finish=Finish(reason="length" if member == 1 else "answer"))

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


def _by_member(groups: Sequence[Group[Credited]]) -> dict[tuple[str, int], tuple[Credited, Any]]:
    return {(group.id, rollout.member): (rollout, rollout.advantage) for group in groups for rollout in group}


def _same(expected: Mapping[tuple[str, int], tuple[Credited, Any]], groups: Sequence[Group[Credited]], what: str) -> None:
    found = _by_member(groups)
    assert found.keys() == expected.keys(), f"members were lost or added: {sorted(found.keys() ^ expected.keys())}"
    for key, (rollout, advantage) in expected.items():
        written = rollout.policy_mask
        close = np.allclose(found[key][1][written], advantage[written], rtol=1e-5, atol=1e-6)
        assert close, f"member {key[1]} of group {key[0]}: the advantage depends on {what}"


def _loss_batch(needs: frozenset[str]) -> LossBatch:
    """Four rollouts of 1 to 7 tokens in float64."""
    import torch

    draw = torch.Generator().manual_seed(7)
    rollout_N = torch.repeat_interleave(torch.arange(4), torch.tensor([3, 1, 7, 4]))

    def normal(*, grad: bool = False, shift: float = 0.0) -> torch.Tensor:
        return (torch.randn(len(rollout_N), generator=draw, dtype=torch.float64) * 0.3 + shift).requires_grad_(grad)

    valued = "value" in needs
    return LossBatch(
        logp_N=normal(grad=True, shift=-2),
        old_logp_N=normal(shift=-2),
        rollout_N=rollout_N,
        num_rollouts=4,
        advantage_N=normal(),
        ref_logp_N=normal(shift=-2) if "ref_logp" in needs else None,
        entropy_N=normal(grad=True, shift=2),
        value_N=normal(grad=True) if valued else None,
        old_value_N=normal() if valued else None,
        return_N=normal() if valued else None,
    )


def _chosen(batch: LossBatch, rollouts: Sequence[int]) -> LossBatch:
    """The batch made of these of its rollouts, in this order; detached."""
    import torch

    places = [torch.nonzero(batch.rollout_N == rollout).flatten() for rollout in rollouts]
    index = torch.cat(places)
    changed = {
        name: tensor.detach()[index]
        for name, tensor in asdict(batch, recurse=False).items()
        if isinstance(tensor, torch.Tensor) and name != "rollout_N"
    }
    lengths = torch.tensor([len(place) for place in places])
    return evolve(
        batch, rollout_N=torch.repeat_interleave(torch.arange(len(rollouts)), lengths), num_rollouts=len(rollouts), **changed
    )
