"""What the sampler computes is what transformers computes, for every architecture, turn by turn."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
import torch

from jackfield.errors import UserError
from jackfield_sampler import engine as engine_module
from jackfield_sampler.generic import GenericNetwork
from jackfield_sampler.llama import LlamaNetwork, why_not

FAST = {
    "llama": {},
    "llama, rope of llama3": {
        "rope_parameters": {
            "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32,
        }
    },
    "llama, biases": {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True},
    "qwen2": {},
    "mistral": {"sliding_window": None},
}  # fmt: skip
GENERIC = {
    "qwen3": {},
    "mistral": {"sliding_window": 7},
    "qwen2": {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1},
    "gemma": {},
    "gemma2": {"sliding_window": 7, "query_pre_attn_scalar": 8, "attn_implementation": "eager"},
    "gemma3_text": {"sliding_window": 7, "query_pre_attn_scalar": 8},
}


def _scripts(script: Any, tokenizer: Any) -> list[Any]:
    """Three turns with observations between them, prompts and observations of several lengths, one prompt shared by two."""
    rng = np.random.default_rng(0)
    written = lambda n: rng.integers(0, 256, n)  # noqa: E731
    shared = written(9)
    prompts = [written(1), written(23), shared, shared, written(5)]
    return [
        script(
            prompt=prompt,
            budgets=(5, 3 + index, 4),
            observations=(written(2 + 3 * index), written(4)),
            prefix="shared" if prompt is shared else str(index),
            seed=index,
            temperature=(1.0, 0.7, 1.5, 1.0, 0.0)[index],
        )
        for index, prompt in enumerate(prompts)
    ]


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("kind", [LlamaNetwork, GenericNetwork])
def test_llama_family(
    name: str, kind: type, tiny: Any, start: Any, script: Any, play: Any, full_logp: Any, tokenizer: Any, monkeypatch: Any
) -> None:
    """Log-probs of the drawn ids are those of a full forward pass over the conversation, by the fast path and by the generic one."""
    module = tiny(name.split(",")[0], **FAST[name])
    for parameter in (p for n, p in module.named_parameters() if n.endswith("bias")):
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(1))
    assert why_not(module) is None
    monkeypatch.setattr(engine_module, "_network", kind)
    engine = start(module)
    scripts = _scripts(script, tokenizer)
    play(engine, *scripts)
    for played in scripts:
        logp = np.concatenate([turn.logp for turn in played.turns])
        np.testing.assert_allclose(logp, full_logp(module, played), rtol=0, atol=2e-5)


@pytest.mark.parametrize("name", GENERIC)
def test_other_architectures(
    name: str, tiny: Any, start: Any, script: Any, play: Any, full_logp: Any, tokenizer: Any, caplog: Any
) -> None:
    """The same through the model's own forward pass, sliding windows included; the log says why it was taken."""
    module = tiny(name, **GENERIC[name])
    with caplog.at_level(logging.INFO):
        engine = start(module)
    assert "slower: " in caplog.text
    scripts = _scripts(script, tokenizer)
    play(engine, *scripts)
    for played in scripts:
        logp = np.concatenate([turn.logp for turn in played.turns])
        np.testing.assert_allclose(logp, full_logp(module, played), rtol=0, atol=5e-5)


def test_a_model_in_training_mode_is_sampled_without_dropout(tiny: Any, start: Any, script: Any, play: Any, full_logp: Any) -> None:
    """Dropout would make log-probs random; the mode is put back afterwards."""
    module = tiny("qwen3", attention_dropout=0.5).train()
    played = script(prompt=np.arange(20), budgets=(10,))
    play(start(module), played)
    assert module.training
    np.testing.assert_allclose(played.turns[0].logp, full_logp(module.eval(), played), rtol=0, atol=2e-5)


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning")  # peft's own
def test_lora_is_merged(tiny: Any, start: Any, script: Any, play: Any, full_logp: Any) -> None:
    """Adapters count in what is sampled, by the fast path, from the first step and after a change."""
    peft = pytest.importorskip("peft")
    adapter = peft.get_peft_model(
        tiny("llama"), peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj", "down_proj"], init_lora_weights=False)
    )
    assert why_not(adapter) is None
    engine = start(adapter)
    for version in (1, 2):
        played = script(prompt=np.arange(20), budgets=(10,))
        play(engine, played)
        np.testing.assert_allclose(played.turns[0].logp, full_logp(adapter, played), rtol=0, atol=2e-5)
        with torch.no_grad():
            for name, parameter in adapter.named_parameters():
                if "lora_B" in name:
                    parameter.mul_(-2)
        engine.refresh(version)


@pytest.mark.parametrize(
    ("architecture", "config", "reason"),
    [
        ("qwen3", {}, "Qwen3ForCausalLM is not of the Llama family"),
        ("mistral", {"sliding_window": 7}, "sliding window of 7"),
        ("llama", {"hidden_act": "gelu"}, "gelu"),
        ("llama", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}}, "dynamic"),
    ],
)
def test_reasons_for_the_generic_path(architecture: str, config: dict[str, Any], reason: str, tiny: Any) -> None:
    """What the fast path cannot compute is said in words."""
    assert reason in (why_not(tiny(architecture, **config)) or "")


def test_other_kinds_of_attention_are_refused(tiny: Any, start: Any) -> None:
    """A model with layers that have no keys and values per token is the user's error, named."""
    module = tiny("qwen3")
    module.config.layer_types = ["full_attention", "linear_attention"]
    with pytest.raises(UserError, match="linear_attention"):
        start(module)


@pytest.mark.parametrize("architecture", ["llama", "qwen3"])
def test_bfloat16_copy(architecture: str, tiny: Any, start: Any, script: Any, play: Any, full_logp: Any) -> None:
    """A bfloat16 sampler over float32 weights is close to them and leaves them as they are."""
    module = tiny(architecture, initializer_range=0.05)
    played = script(prompt=np.arange(30), budgets=(20,))
    play(start(module, dtype="bfloat16"), played)
    assert all(p.dtype == torch.float32 for p in module.parameters())
    difference = np.abs(played.turns[0].logp - full_logp(module, played))
    assert 0 < difference.max() < 0.1
