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
from typing import Any

import numpy as np
from attrs import evolve

from jackfield.rollout import Players, play
from jackfield.stages import NEEDS, Advantage, Environment, Filter, Loss, Reward, Tool
from jackfield.testing.fakes import CharTokenizer, ScriptedEngine
from jackfield.testing.material import chosen, loss_batch, measured_groups, scored_groups, spoken, task
from jackfield.types import Credited, Group, Observation, Rollout, Scored, Verdict

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
            rollout = spoken(turns, answers)
            verdict = _judged(reward, rollout, name)
            elsewhere = spoken(turns, answers, others="<answer>Paris</answer> 7 <search>")
            assert _judged(reward, elsewhere, name) == verdict, f"{name}: the verdict depends on what the policy did not write"
    for text in DEGENERATE:
        start = time.perf_counter()
        _judged(reward, spoken((text, f"<answer>{text}</answer>"), ("Paris",)), f"{text[:10]}…")
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
    """Credits every policy token with something finite that depends neither on order nor on what stands at other positions.

    It may leave out members and whole groups, but adds none and keeps the order of groups. What it learns from step to step (see
    ``stages``) moves in ``after_step`` only, and ``restore`` takes back what ``state`` gave.
    """
    needs = _needs(advantage)
    assert advantage.smallest_group >= 1, f"smallest_group is {advantage.smallest_group}"
    assert isinstance(advantage.uses_reward, bool), f"uses_reward is {advantage.uses_reward!r}"
    groups = measured_groups(max(3, advantage.smallest_group), needs, elsewhere=np.nan)
    given = advantage.credit(groups)
    order = [g.id for g in groups]
    assert [g.id for g in given] == [i for i in order if i in {g.id for g in given}], "groups were added or put in another order"
    expected = _by_member(given)
    for (group, member), (rollout, credited) in expected.items():
        written = rollout.policy_mask
        assert credited.shape == rollout.tokens.shape, f"member {member} of {group}: advantage has the shape {credited.shape}"
        assert np.isfinite(credited[written]).all(), (
            f"member {member} of {group}: the advantage is not finite where the policy wrote"
        )
    _same(expected, advantage.credit(groups), "earlier calls (does it keep state, or write into its input?)")
    _same(expected, advantage.credit(measured_groups(max(3, advantage.smallest_group), needs, elsewhere=1e9)), "masked positions")
    shuffled = [evolve(group, members=group.members[::-1]) for group in reversed(groups)]
    _same(expected, advantage.credit(shuffled), "the order of groups and members")
    _check_state(advantage)
    _same(expected, advantage.credit(groups), "a step between state() and restore()")


def check_filter(part: Filter) -> None:
    """Leaves rollouts out and does nothing else: groups and members keep their order, none is added or changed, no group is left
    empty, and neither what stands at masked positions nor earlier calls matter."""
    groups = scored_groups(others=7)
    kept = part.keep(groups)
    given = {group.id: group for group in groups}
    order = [group.id for group in kept]
    assert set(order) <= set(given), f"groups were added: {sorted(set(order) - set(given))}"
    assert order == [i for i in given if i in order], f"groups were put in another order, or given twice: {order}"
    for group in kept:
        before = [id(rollout) for rollout in given[group.id]]
        after = [id(rollout) for rollout in group]
        assert group.task is given[group.id].task, f"group {group.id} has another task"
        assert after, f"group {group.id} is empty; leave it out"
        assert set(after) <= set(before), f"a member of group {group.id} was changed or added; give the rollouts themselves"
        assert after == [i for i in before if i in after], f"members of group {group.id} were put in another order"
    _same_members(kept, part.keep(groups), "earlier calls (does it keep state?)")
    _same_members(kept, part.keep(scored_groups(others=9)), "masked positions")
    _check_state(part)
    _same_members(kept, part.keep(groups), "a step between state() and restore()")


def check_loss(loss: Loss) -> None:
    """Gives one finite term a unit, undivided: twice the batch, twice the sum; the order of rollouts is no matter."""
    import torch

    needs = _needs(loss)
    assert loss.unit in ("token", "rollout", "group"), f"unit is {loss.unit!r}"
    batch = loss_batch(needs)
    terms = loss.terms(batch)
    units = {"token": len(batch.rollout_N), "rollout": batch.num_rollouts, "group": batch.num_groups}[loss.unit]
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
    for name in ("logp_N", "entropy_N", "value_N", "score_R"):
        tensor = getattr(batch, name)
        assert tensor is None or tensor.grad is None or torch.isfinite(tensor.grad).all(), f"the gradient of {name} is not finite"
    twice = loss.terms(chosen(batch, [*range(batch.num_rollouts)] * 2)).term.sum()
    torch.testing.assert_close(
        twice, 2 * total, msg=f"twice the batch must double the sum {total:.6g}, found {twice:.6g}; never divide"
    )
    backwards = loss.terms(chosen(batch, [*range(batch.num_rollouts)][::-1])).term.sum()
    torch.testing.assert_close(backwards, total, msg=f"the order of rollouts changed the sum from {total:.6g} to {backwards:.6g}")


# ------------------------------------------------------------------------------------------------------- what they share


def _needs(component: Any) -> frozenset[str]:
    needs = frozenset(getattr(component, "needs", ()))
    assert needs <= NEEDS, f"needs holds {sorted(needs - NEEDS)}; known are {sorted(NEEDS)}"
    return needs


def _check_state(component: Any) -> None:
    """What a component learns in ``after_step`` can be written down and taken back."""
    if not hasattr(component, "state"):
        assert not hasattr(component, "after_step"), "after_step() is only called where there are state() and restore() too"
        return
    before = component.state()
    for name, value in before.items():
        assert isinstance(name, str), f"state() has the key {name!r}, which is no text"
        assert isinstance(value, float | int), f"state() holds {name} = {value!r}, which is no number"
        assert np.isfinite(value), f"state() holds {name} = {value!r}"
    if hasattr(component, "after_step"):
        component.after_step({"reward/mean": 0.25, "kl/reference": 0.5, "rollout/policy_tokens": 12.0})
    component.restore(before)
    assert component.state() == before, f"restore() of {before} gave {component.state()}"


def _same_members(expected: Sequence[Group[Scored]], groups: Sequence[Group[Scored]], what: str) -> None:
    def members(kept: Sequence[Group[Scored]]) -> list[tuple[str, int]]:
        return [(group.id, rollout.member) for group in kept for rollout in group]

    assert members(groups) == members(expected), f"what is kept depends on {what}"


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
        Players(environment=environment, engine=engine, tokenizer=tokenizer, tools=tools, run_seed=0),
        [task()],
        step=0,
        group_size=members,
        temperature=1.0,
    )
    sessions = {session.member: session for session in engine.sessions}
    for rollout in group:
        assert rollout.member in sessions, f"no conversation was started: {rollout.finish}"
    return [(rollout, sessions[rollout.member]) for rollout in group]


def _by_member(groups: Sequence[Group[Credited]]) -> dict[tuple[str, int], tuple[Credited, Any]]:
    return {(group.id, rollout.member): (rollout, rollout.advantage) for group in groups for rollout in group}


def _same(expected: Mapping[tuple[str, int], tuple[Credited, Any]], groups: Sequence[Group[Credited]], what: str) -> None:
    found = _by_member(groups)
    assert found.keys() == expected.keys(), f"members were lost or added: {sorted(found.keys() ^ expected.keys())}"
    for key, (rollout, advantage) in expected.items():
        written = rollout.policy_mask
        close = np.allclose(found[key][1][written], advantage[written], rtol=1e-5, atol=1e-6)
        assert close, f"member {key[1]} of group {key[0]}: the advantage depends on {what}"
