from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from jackfield.errors import RecipeError
from jackfield.pack import joined
from jackfield_transformers.tiny_random import TinyRandom

pytest.importorskip("peft")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

LORA = TinyRandom(compute="float32", lora_rank=4, lora_alpha=8.0)


TEXTS = np.random.default_rng(0).integers(0, 256, (2, 9))


def logits(model):
    return model.logits(model.hidden(joined([*TEXTS]))).detach()


def train_a_little(model):
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(3)), alpha=0.1)


def test_only_adapters_move_and_start_as_nothing():
    """At the start the model is the one without LoRA; the optimizer gets the adapters alone; the seed fixes them."""
    model = LORA.load()
    assert torch.equal(logits(model), logits(TinyRandom(compute="float32").load()))
    names = {name for name, weight in model.module.named_parameters() if weight.requires_grad}
    assert names
    assert all(".lora_" in name for name in names)
    assert "lm_head" not in str(names)
    again = LORA.load()
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), again.parameters(), strict=True))


def test_the_reference_is_the_same_weights_with_adapters_off():
    """No second copy is made (pitfall 23), and asking the reference leaves the policy as it was."""
    model = LORA.load()
    start = logits(model)
    reference = model.reference()
    train_a_little(model)
    trained = logits(model)
    assert torch.equal(logits(reference), start)
    assert torch.equal(logits(model), trained)
    assert not torch.allclose(trained, start)
    assert reference.module is model.module
    assert reference.parameters() == []
    assert all(weight.requires_grad for weight in model.parameters())
    assert len(model.parameters()) > 0


def test_a_saved_folder_is_merged_and_restores(tmp_path):
    """Plain transformers computes what the adapters compute; restoring gives them back bit for bit, in place."""
    model = LORA.load()
    train_a_little(model)
    trained, kept = logits(model), [weight.clone() for weight in model.parameters()]
    model.save(tmp_path)
    assert torch.equal(logits(model), trained)
    plain = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    torch.testing.assert_close(plain(torch.from_numpy(TEXTS)).logits.flatten(0, 1).detach(), trained, rtol=1e-4, atol=1e-5)
    places = [weight.data_ptr() for weight in model.parameters()]
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
    model.restore(tmp_path)
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), kept, strict=True))
    assert [weight.data_ptr() for weight in model.parameters()] == places
    fresh = LORA.load()
    fresh.restore(tmp_path)
    assert torch.equal(logits(fresh), trained)


def test_weights_are_merged_without_touching_the_model():
    """An engine that takes weights over gets what the policy computes; the reference's are the plain ones."""
    model = LORA.load()
    train_a_little(model)
    trained = logits(model)
    plain = TinyRandom(compute="float32").load()
    base = {name: value.clone() for name, value in plain.weights().items()}
    assert all(torch.equal(value, base[name]) for name, value in model.reference().weights().items())
    plain.module.load_state_dict(model.weights())
    torch.testing.assert_close(logits(plain), trained, rtol=1e-4, atol=1e-5)
    assert torch.equal(logits(model), trained)


def test_targets_are_checked():
    """A name that no layer has is the user's mistake."""
    model = TinyRandom(lora_rank=2, lora_targets=("q_proj",)).load()
    assert {
        name.split(".lora_")[0].rpartition(".")[2] for name, weight in model.module.named_parameters() if weight.requires_grad
    } == {"q_proj"}
    with pytest.raises(RecipeError, match="qproj"):
        TinyRandom(lora_rank=2, lora_targets=("qproj",)).load()
