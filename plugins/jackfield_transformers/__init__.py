"""Causal language models through Hugging Face transformers, and value functions and reward models on top of them."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_models(register: Register) -> None:
    register(
        "hf_causal",
        "jackfield_transformers.hf_causal:HfCausal",
        "A transformers causal LM: local folder, hub id, or a GGUF file inside a package.",
    )
    register(
        "tiny_random",
        "jackfield_transformers.tiny_random:TinyRandom",
        "A two-layer causal LM with random weights and a byte tokenizer; downloads nothing.",
    )


@hookimpl
def jackfield_rewards(register: Register) -> None:
    register(
        "reward_model",
        "jackfield_transformers.reward_model:RewardModel",
        "A neural reward model: one trained here on pairs, or a sequence classifier of transformers.",
    )
    register(
        "process_reward_model",
        "jackfield_transformers.process_reward_model:ProcessRewardModel",
        "How likely each step is right, by a model trained here on labels of steps.",
    )


@hookimpl
def jackfield_critics(register: Register) -> None:
    register(
        "value_head", "jackfield_transformers.value_head:ValueHead", "A linear value head on its own or the policy's backbone."
    )
