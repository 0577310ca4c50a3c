"""The engine as environments use it: turns, stop strings, weights that change, and what a rollout's draws depend on."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
import torch

from jackfield import machine
from jackfield.types import Task
from jackfield_sampler.engine import TorchEngine

TASK = Task(id="task", prompt=())


def _crowd(script: Any, size: int = 9) -> list[Any]:
    """Rollouts of different lengths, turns, temperatures and stop strings; every third shares its prompt with its neighbour."""
    rng = np.random.default_rng(3)
    prompts = [rng.integers(0, 256, 3 + 7 * (i // 2)) for i in range(size)]
    prompts = [prompts[i - 1] if i % 3 == 1 else prompt for i, prompt in enumerate(prompts)]
    return [
        script(
            prompt=prompt,
            budgets=(4 + i % 4, 6),
            observations=(rng.integers(0, 256, 1 + 5 * (i % 2)),),
            stop=("t",) if i % 2 else (),
            prefix=str(i - 1 if i % 3 == 1 else i),
            seed=100 + i,
            temperature=(1.0, 0.8, 0.0)[i % 3],
        )
        for i, prompt in enumerate(prompts)
    ]


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("architecture", ["llama", "qwen3"])
def test_draws_do_not_depend_on_the_crowd(
    architecture: str, dtype: torch.dtype, atol: float, tiny: Any, start: Any, script: Any, play: Any
) -> None:
    """A rollout alone, in a crowd, in the crowd reversed, with any max_rows and prefill_tokens: the same tokens, log-probs to rounding."""
    module = tiny(architecture, dtype)
    alone = _crowd(script)
    for one in alone:
        play(start(module), one)
    for options in ({}, {"max_rows": 1}, {"max_rows": 3}, {"max_rows": 4, "prefill_tokens": 5}):
        for order in (1, -1):
            crowd = _crowd(script)
            play(start(module, **options), *crowd[::order])
            for one, other in zip(alone, crowd, strict=True):
                assert one.ids == other.ids
                for turn, again in zip(one.turns, other.turns, strict=True):
                    np.testing.assert_allclose(turn.logp, again.logp, rtol=0, atol=atol)
                    assert (turn.text, turn.ended_by) == (again.text, again.ended_by)


def test_draws_leave_torchs_generator_alone_and_depend_on_the_seed(tiny: Any, start: Any, script: Any, play: Any) -> None:
    """All randomness comes from the session's seed."""
    engine = start(tiny("llama"))
    state = torch.get_rng_state()
    scripts = [script(prompt=np.arange(9), budgets=(20,), seed=seed) for seed in (1, 1, 2)]
    play(engine, *scripts)
    assert torch.equal(torch.get_rng_state(), state)
    assert scripts[0].ids == scripts[1].ids != scripts[2].ids


def test_frequencies_are_those_of_the_policy(tiny: Any, start: Any, script: Any, play: Any) -> None:
    """Chi-square of the first token of 3,000 rollouts with consecutive seeds, at a temperature, against the policy's distribution."""
    module = tiny("llama")
    prompt, draws = np.arange(9), 3000
    scripts = [script(prompt=prompt, budgets=(1,), seed=seed, temperature=1.5, prefix="all") for seed in range(draws)]
    play(start(module, max_rows=500), *scripts)
    with torch.no_grad():
        expected = torch.softmax(module(torch.tensor(prompt)[None]).logits[0, -1].double() / 1.5, -1).numpy() * draws
    counts = np.bincount([s.turns[0].tokens[0] for s in scripts], minlength=len(expected)).astype(float)
    rare = expected < 5
    counts, expected = (np.append(x[~rare], x[rare].sum()) for x in (counts, expected))
    chi_square, freedom = ((counts - expected) ** 2 / expected).sum(), len(counts) - 1
    assert abs(chi_square - freedom) < 3.5 * np.sqrt(2 * freedom)


def test_a_turn_ends_with_the_token_that_completes_the_stop_string(
    tiny: Any, start: Any, script: Any, play: Any, tokenizer: Any
) -> None:
    """X1, T1: ids stay as sampled, the text is that of all ids, and no token follows the one that completes the stop string."""
    module = tiny("llama")
    _favour(module, tokenizer, {"a": 1.0, ">x": 1.0, "<": 0.5})
    ended = [script(prompt=np.arange(5), budgets=(60,), stop=("a>",), seed=seed) for seed in range(12)]
    play(start(module), *ended)
    for one in ended:
        turn = one.turns[0]
        assert turn.ended_by == "stop"
        assert turn.text == tokenizer.decode(turn.tokens)
        assert turn.text.endswith("a>x")
        assert "a>" not in tokenizer.decode(turn.tokens[:-1])
        assert len(turn.tokens) == len(turn.logp)


def test_eos_is_part_of_the_ids_and_not_of_the_text(
    tiny: Any, start: Any, script: Any, play: Any, full_logp: Any, tokenizer: Any
) -> None:
    """The end-of-turn id has a log-prob like any token the policy sampled; the next turn has it in its context."""
    module = tiny("llama")
    _favour(module, tokenizer, {"a": 1.0, "<|end|>": 1.0})
    one = script(prompt=np.arange(5), budgets=(50, 50), observations=(tokenizer.encode("so?"),), seed=3)
    play(start(module), one)
    for turn in one.turns:
        assert turn.ended_by == "eos"
        assert turn.tokens[-1] == tokenizer.eos_id
        assert turn.text == tokenizer.decode(turn.tokens[:-1])
    np.testing.assert_allclose(np.concatenate([t.logp for t in one.turns]), full_logp(module, one), rtol=0, atol=2e-5)


def test_the_budget_ends_a_turn(tiny: Any, start: Any, script: Any, play: Any) -> None:
    """Exactly so many tokens; none for a budget of 0; a turn right after another goes on from its last token."""
    module = tiny("llama")
    whole, pieces = (script(prompt=np.arange(5), budgets=budgets) for budgets in ((9,), (4, 0, 5)))
    play(start(module), whole, pieces)
    assert [len(turn.tokens) for turn in pieces.turns] == [4, 0, 5]
    assert {turn.ended_by for turn in (*whole.turns, *pieces.turns)} == {"length"}
    assert whole.ids == pieces.ids


@pytest.mark.parametrize("architecture", ["llama", "qwen3"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_refresh_takes_over_changed_weights(
    architecture: str, dtype: str, tiny: Any, start: Any, script: Any, play: Any, full_logp: Any
) -> None:
    """K5: after an update the probe's log-probs change to those of the new weights, cached prompts are not used, turns carry the version."""
    module = tiny(architecture)
    engine = start(module, dtype=dtype)
    probes = [script(prompt=np.arange(12), budgets=(8,), prefix="probe", temperature=0.0) for _ in range(3)]
    play(engine, probes[0])
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(7)), alpha=0.1)
    engine.refresh(1)
    play(engine, probes[1])
    play(start(module, dtype=dtype), probes[2])
    assert [p.turns[0].policy_version for p in probes] == [0, 1, 0]
    assert np.abs(probes[1].turns[0].logp - probes[0].turns[0].logp).max() > 0.05
    assert probes[1].ids == probes[2].ids
    np.testing.assert_array_equal(probes[1].turns[0].logp, probes[2].turns[0].logp)
    atol = 2e-5 if dtype == "float32" else 0.3
    np.testing.assert_allclose(probes[1].turns[0].logp, full_logp(module, probes[1]), rtol=0, atol=atol)


def test_auto_follows_the_policys_compute(tiny: Any, policy: Any, tokenizer: Any) -> None:
    """A policy that says how it multiplies is sampled in that dtype; one that does not, as the machine does best."""
    from jackfield_sampler.engine import _dtype

    module = tiny("llama", torch.float64)
    assert _dtype("auto", policy(module, tokenizer, compute="bfloat16")) == torch.bfloat16
    assert _dtype("auto", policy(module, tokenizer, compute="float32")) == torch.float64
    assert _dtype("float32", policy(module, tokenizer, compute="bfloat16")) == torch.float32
    silent = policy(module, tokenizer)
    del silent.compute
    assert _dtype("auto", silent) == (torch.bfloat16 if machine.cpu_multiplies_bfloat16() else torch.float64)


def test_misuse_is_refused(tiny: Any, start: Any) -> None:
    """An engine that was not started, an empty prompt, a negative temperature, a closed session, two turns at once."""
    with pytest.raises(RuntimeError, match="not been started"):
        TorchEngine().refresh(1)
    engine = start(tiny("llama"))
    with pytest.raises(ValueError, match="at least one token"):
        engine.open(np.zeros(0, np.int64), task=TASK, member=0, prefix="", seed=0, temperature=1.0)
    with pytest.raises(ValueError, match="temperature"):
        engine.open(np.arange(3), task=TASK, member=0, prefix="", seed=0, temperature=-1.0)

    async def closed() -> None:
        session = engine.open(np.arange(3), task=TASK, member=0, prefix="", seed=0, temperature=1.0)
        session.close()
        session.close()
        await session.generate(3, ())

    async def twice() -> None:
        session = engine.open(np.arange(3), task=TASK, member=0, prefix="", seed=0, temperature=1.0)
        await asyncio.gather(session.generate(3, ()), session.generate(3, ()))

    for wrong, message in ((closed, "is closed"), (twice, "already|closed")):
        with pytest.raises(RuntimeError, match=message):
            asyncio.run(wrong())


def _favour(module: Any, tokenizer: Any, weights: dict[str, float]) -> None:
    """Make the model write only the given tokens, with about the given odds, whatever came before."""
    ids = [tokenizer.inner.token_to_id(token) for token in weights]
    with torch.no_grad():
        module.model.norm.weight.zero_()
        module.lm_head = torch.nn.Linear(module.config.hidden_size, tokenizer.size)
        module.lm_head.weight.zero_()
        module.lm_head.bias.fill_(-30.0)
        module.lm_head.bias[ids] = torch.tensor(list(weights.values())).log()
