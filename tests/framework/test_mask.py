"""What the policy did not write teaches it nothing: the whole corridor on a transformers model, with real parts.

The axes of a captured hidden state are B rows, T tokens of a row, H.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from attrs import evolve, frozen

from jackfield import pack, rollout
from jackfield.corridor import Corridor, Named
from jackfield.measure import measure
from jackfield.plugins import load_plugins
from jackfield.recipe import load_recipe
from jackfield.reward import score
from jackfield.run import load
from jackfield.step import Held, scorable
from jackfield.types import Credited, Group, Measured, Rollout, Scored, Segment, Verdict
from jackfield_transformers.model import Backbone, HfModel

COMMON = """
title = "mask"
steps = 1
evaluate = {enabled = false}
tasks_per_step = 2
group_size = 2
model = {use = "tiny_random", compute = "float32"}
data = "smoke"
tools = [{use = "search", corpus = "smoke", top_k = 1}]
rewards = ["exact_match"]
sampling = {temperature = 0.8}
learn = {epochs = 2, tokens_per_microbatch = 1024, logits_chunk = 64}
optimizer = {use = "adamw", lr = 1e-3}
rollout = {use = "tagged_tools", template = "{question}", max_turns = 2, max_new_tokens_per_turn = 32, correction = "\\nNo: {problem}.\\n"}
"""
PPO = """
penalties = [{use = "kl", coefficient = 0.1}]
critic = {use = "value_head", backbone = "own", init_std = 0.3}
advantage = {use = "gae", gamma = 0.99, lam = 0.95, bootstrap_truncated = false}
losses = ["ppo_clip", {use = "value_clip", weight = 0.5, clip = 5.0}, {use = "entropy", weight = 0.01}]
"""
GRPO = """
advantage = "group_norm"
losses = ["ppo_clip", {use = "kl", weight = 0.1}, {use = "entropy", weight = 0.01}]
"""
RECIPES = {"ppo_own": PPO, "ppo_shared": PPO.replace('"own"', '"shared"'), "grpo": GRPO}
PER_TOKEN = ("token_reward", "old_logp", "ref_logp", "value")
CREDIT = ("advantage", "returns")
FILLS = (np.nan, np.inf, "random")


@frozen
class SumOfIds:
    """So that members of a group that sampled differ in reward."""

    def judge(self, rollout: Rollout) -> Verdict:
        return Verdict.score(float(rollout.tokens[rollout.policy_mask].sum() % 7))


@pytest.fixture(params=sorted(RECIPES))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["torch", "recorded"])
def engine(request: pytest.FixtureRequest) -> str:
    """Sampled turns, answered by corrections; and recorded ones, which search and are answered by passages."""
    return str(request.param)


@pytest.fixture
def corridor(kind: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corridor:
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path / "cache"))
    torch.set_num_threads(1)
    path = tmp_path / "mask.toml"
    path.write_text(f'engine = "{engine}"\n{COMMON}{RECIPES[kind]}')
    found = load_recipe(path, load_plugins(environ={})).corridor
    return evolve(found, rewards=(*found.rewards, Named(name="ids", part=SumOfIds())))


def scored(corridor: Corridor, held: Held) -> list[Group[Scored]]:
    run = corridor.run
    tasks = corridor.data.tasks("train")[: run.tasks_per_step]
    temperature = corridor.sampling.temperature
    players = evolve(held.players, environment=corridor.environment)
    played = rollout.play(players, tasks, step=0, group_size=run.group_size, temperature=temperature)
    kept = scorable(score(played, corridor.rewards), corridor.advantage.smallest_group)
    assert len(kept) == run.tasks_per_step
    return kept


def measured(corridor: Corridor, held: Held, groups: Sequence[Group[Scored]]) -> list[Group[Measured]]:
    return measure(
        groups,
        needs=corridor.measured,
        policy=held.policy,
        reference=held.reference,
        critic=held.critic,
        penalties=corridor.penalties,
        temperature=corridor.sampling.temperature,
        settings=corridor.learn,
    )


def learnt(corridor: Corridor, groups: Sequence[Group[Credited]]) -> tuple[list[torch.Tensor], dict[str, float]]:
    """The gradients of every update and then the weights, and the metrics, from the same start every time."""
    held = load(corridor, asyncio.run)
    found: list[torch.Tensor] = []
    optimizer = held.learner.torch_optimizer
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    optimizer.register_step_pre_hook(lambda *_: found.extend(p.grad.clone() for p in parameters if p.grad is not None))
    metrics = held.learner.learn(groups, step=0)
    return [*found, *(p.detach() for p in parameters)], metrics


def assert_same(found: tuple[list[torch.Tensor], dict[str, float]], want: tuple[list[torch.Tensor], dict[str, float]]) -> None:
    """Bit for bit, and finite."""
    assert found[1] == want[1]
    assert len(found[0]) == len(want[0])
    assert all(torch.equal(a, b) for a, b in zip(found[0], want[0], strict=True))
    assert all(torch.isfinite(a).all() for a in found[0])
    assert np.isfinite(list(found[1].values())).all()


def every(groups: Sequence[Group[Any]], change: Callable[[Any], Any]) -> list[Group[Any]]:
    return [evolve(g, members=tuple(map(change, g))) for g in groups]


def filled(groups: Sequence[Group[Any]], names: Sequence[str], fill: float | str) -> list[Group[Any]]:
    """With ``fill`` wherever the policy did not write."""
    rng = np.random.default_rng(5)

    def fill_in(r: Any) -> Any:
        arrays = {name: getattr(r, name) for name in names if getattr(r, name) is not None}
        noise = rng.normal(0, 100, len(r.tokens)) if fill == "random" else fill
        return evolve(r, **{name: np.where(r.policy_mask, array, noise).astype(array.dtype) for name, array in arrays.items()})

    return every(groups, fill_in)


def policy_numbers(groups: Sequence[Group[Any]]) -> list[np.ndarray]:
    """Every per-token array of every rollout, at the policy's tokens."""
    rollouts = [r for g in groups for r in g]
    return [getattr(r, n)[r.policy_mask] for r in rollouts for n in (*PER_TOKEN, *CREDIT) if getattr(r, n) is not None]


def gradients_elsewhere(
    corridor: Corridor, groups: Sequence[Group[Credited]], wrote: Sequence[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> tuple[float, float]:
    """The largest gradient by a hidden state (of the policy's or the critic's own backbone) that predicts nothing the policy wrote,
    and the share of those with a gradient among the others (clipped terms have none). ``wrote``: [L] of every rollout, the truth."""
    held = load(corridor, asyncio.run)
    seen: list[torch.Tensor] = []
    computed: list[int] = []
    hidden_of, logits_of = Backbone.hidden, HfModel.logits

    def hidden(self: Backbone, packed: pack.Packed) -> torch.Tensor:
        found = hidden_of(self, packed)
        found.retain_grad()
        seen.append(found)
        return found

    def logits(self: HfModel, hidden_NH: torch.Tensor) -> torch.Tensor:
        computed.append(len(hidden_NH))
        return logits_of(self, hidden_NH)

    rollouts = [r for g in groups for r in g]
    with monkeypatch.context() as watching:
        watching.setattr(Backbone, "hidden", hidden)
        watching.setattr(HfModel, "logits", logits)
        held.learner.learn(groups, step=0)
    # Once forward, once recomputed backward: logits of other positions are never made.
    assert sum(computed) == 2 * corridor.learn.epochs * sum(r.num_policy_tokens for r in rollouts)
    batches = pack.plan([(r,) for r in rollouts], corridor.learn.tokens_per_microbatch)
    passes = 2 if corridor.critic is not None and corridor.critic.backbone == "own" else 1  # type: ignore[attr-defined]
    assert len(seen) == corridor.learn.epochs * len(batches) * passes
    elsewhere, there = [], []
    for index, hidden_TH in enumerate(seen):
        assert hidden_TH.grad is not None
        predicts = places([(rollouts[i], wrote[i]) for i in batches[index // passes % len(batches)]])
        assert len(predicts) == len(hidden_TH)
        size_T = hidden_TH.grad.abs().amax(-1).numpy()
        elsewhere.append(size_T[~predicts].max())
        there.append((size_T[predicts] > 0).mean())
    return float(max(elsewhere)), float(min(there))


def places(batch: Sequence[tuple[Credited, np.ndarray]]) -> np.ndarray:
    """[T] whether a state of the batch predicts what the policy wrote. A prompt that neighbours share stands there once."""
    parts: list[np.ndarray] = []
    for prompt, neighbours in groupby(batch, key=lambda pair: tuple(pair[0].tokens[: np.flatnonzero(pair[0].policy_mask)[0]])):
        sharing = list(neighbours)
        shared = len(prompt) if len(sharing) > 1 else 0
        predicts = [truth[1 : pack.row_length(rollout) + 1] for rollout, truth in sharing]
        parts += [np.logical_or.reduce([p[:shared] for p in predicts]), *(p[shared:] for p in predicts)]
    return np.concatenate(parts)


def masks(groups: Sequence[Group[Any]]) -> list[np.ndarray]:
    return [r.policy_mask for g in groups for r in g]


def test_no_gradient_where_no_token_of_the_policy_is_predicted(corridor: Corridor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A17: exactly zero at prompts, observations, corrections and padding, in the policy and in the critic, at every update."""
    held = load(corridor, asyncio.run)
    groups = scored(corridor, held)
    assert sum(s.writer == "environment" for g in groups for r in g for s in r.segments) > len(masks(groups)) / 2
    credited = corridor.advantage.credit(measured(corridor, held, groups))
    elsewhere, there = gradients_elsewhere(corridor, credited, masks(credited), monkeypatch)
    assert elsewhere == 0.0
    assert there > 0.5


def test_without_the_mask_the_gradient_is_found(corridor: Corridor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: in the ablation, the same tokens, declared the policy's, have a gradient at observations."""
    from jackfield_environments.unmasked import TaggedToolsUnmasked

    held = load(corridor, asyncio.run)
    truth = scored(corridor, held)
    keys = {f.name: getattr(corridor.environment, f.name) for f in TaggedToolsUnmasked.__attrs_attrs__}  # type: ignore[attr-defined]
    wrong = evolve(corridor, environment=TaggedToolsUnmasked(**keys))
    groups = scored(wrong, held)
    assert [r.tokens.tolist() for g in groups for r in g] == [r.tokens.tolist() for g in truth for r in g]
    credited = wrong.advantage.credit(measured(wrong, held, groups))
    elsewhere, _ = gradients_elsewhere(wrong, credited, masks(truth), monkeypatch)
    assert elsewhere > 0.0


def test_numbers_at_other_tokens_change_nothing(corridor: Corridor) -> None:
    """NaN, infinity or noise in every per-token array wherever the policy did not write: the same advantages and returns
    (whitened or normalised within the group), losses, metrics, gradients and weights, bit for bit."""
    held = load(corridor, asyncio.run)
    clean = measured(corridor, held, scored(corridor, held))
    credited = corridor.advantage.credit(clean)
    want = learnt(corridor, credited)
    for fill in FILLS:
        others = corridor.advantage.credit(filled(clean, PER_TOKEN, fill))
        assert all(map(np.array_equal, policy_numbers(others), policy_numbers(credited)))
        assert_same(learnt(corridor, filled(others, [*PER_TOKEN, *CREDIT], fill)), want)


def test_what_follows_the_last_policy_token_changes_nothing(corridor: Corridor) -> None:
    """Environment tokens after it, whatever they are: measures at the policy's tokens, gradients, weights and metrics stay, bit for
    bit; and without any, up to the rounding of other matrix shapes."""
    held = load(corridor, asyncio.run)
    plain = scored(corridor, held)

    def followed(seed: int) -> list[Group[Scored]]:
        tokens = np.random.default_rng(seed).integers(0, 256, 40)
        return every(plain, lambda r: evolve(r, segments=(*r.segments, Segment(tokens=tokens, writer="environment"))))

    groups = [followed(1), followed(2), plain]
    one, two, none = (corridor.advantage.credit(measured(corridor, held, g)) for g in groups)  # before ``learnt`` moves the critic
    for a, b, c in zip(policy_numbers(one), policy_numbers(two), policy_numbers(none), strict=True):
        assert np.array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=1e-4, atol=1e-4)
    want = learnt(corridor, one)
    assert_same(learnt(corridor, two), want)
    near = {name: value for name, value in learnt(corridor, none)[1].items() if "fraction" not in name}  # rounding decides ties
    assert near == pytest.approx({name: want[1][name] for name in near}, rel=1e-3, abs=1e-5)
