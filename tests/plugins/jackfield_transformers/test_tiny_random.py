from __future__ import annotations

import socket

import pytest
import torch

from jackfield.errors import RecipeError
from jackfield.pack import joined
from jackfield_transformers.hf_causal import HfCausal
from jackfield_transformers.tiny_random import TinyRandom


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "mistral", "gemma2"])
def test_any_architecture_is_small(architecture):
    """Two layers, hidden size 64, two key-value heads for four heads, and weights that the seed fixes."""
    model = TinyRandom(architecture=architecture).load()
    config = model.module.config
    assert (config.model_type, config.num_hidden_layers, config.hidden_size) == (architecture, 2, 64)
    assert sum(weight.numel() for weight in model.parameters()) < 200_000
    state = torch.random.get_rng_state()
    again = TinyRandom(architecture=architecture).load()
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), again.parameters(), strict=True))
    other = TinyRandom(architecture=architecture, seed=1).load()
    assert not torch.equal(model.module.get_input_embeddings().weight, other.module.get_input_embeddings().weight)


def test_smoke_model_of_a_hub_id_needs_no_network(no_network):
    """The stand-in for a model that is not here has its architecture, guessed from the name, and its other keys."""
    source = HfCausal(path="Qwen/Qwen2.5-7B", compute="float32", gradient_checkpointing=True).tiny()
    assert (source.compute, source.gradient_checkpointing) == ("float32", True)
    model = source.load()
    assert model.module.config.model_type == "qwen2"
    hidden = model.hidden(joined([source.tokenizer().encode("hello")]))
    assert model.logits(hidden).isfinite().all()


def test_an_unknown_architecture_is_the_users_mistake():
    """The nearest one is named."""
    with pytest.raises(RecipeError, match="did you mean 'llama'"):
        TinyRandom(architecture="lama").load()
