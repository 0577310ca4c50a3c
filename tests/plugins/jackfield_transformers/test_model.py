from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from jackfield.pack import Packed, Piece, joined
from jackfield_transformers.model import HfModel
from jackfield_transformers.tiny_random import TinyRandom

NOTHING = torch.zeros(0, dtype=torch.int64)
FAMILIES = ["llama", "qwen2", "mistral", "gemma2", "cohere", "granite", "gpt2"]


def tiny(family="llama", dtype=torch.float64, compute="float32", **changes):
    """A model with large enough weights for every position to matter; ``changes`` go into its config."""
    source = TinyRandom(architecture=family)
    config = source._config(source.tokenizer())
    for name, value in changes.items():
        setattr(config, name, value)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        module = AutoModelForCausalLM.from_config(config, dtype=dtype)
        with torch.no_grad():
            for weight in module.parameters():
                weight.add_(torch.randn_like(weight), alpha=0.1)
    return HfModel(module, source.tokenizer(), compute=compute)


def continued(first, second):
    """Four tokens, continued by three of the same text and by five of another."""
    return Packed(
        ids_T=torch.from_numpy(np.concatenate([first[:7], second[:5]])),
        positions_T=torch.tensor([0, 1, 2, 3, 4, 5, 6, 4, 5, 6, 7, 8]),
        pieces=(Piece(length=4, after=None), Piece(length=3, after=0), Piece(length=5, after=0)),
        rollout_N=NOTHING, state_N=NOTHING, target_N=NOTHING,
    )  # fmt: skip


def batch(rows=2, length=12, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (rows, length))


@pytest.mark.parametrize("family", FAMILIES)
def test_hidden_and_logits_are_those_of_the_model(family):
    """Split at the head, everything the family does after it (Gemma-2 soft-caps, Cohere and Granite scale) is still done."""
    model = tiny(family, logit_scale=0.3) if family == "cohere" else tiny(family)
    ids = batch()
    expected = model.module(input_ids=torch.from_numpy(ids), use_cache=False).logits
    hidden = model.hidden(joined([*ids]))
    logits = model.logits(hidden)
    assert hidden.dtype == logits.dtype == torch.float64
    torch.testing.assert_close(logits, expected.flatten(0, 1), rtol=0, atol=1e-5)


def test_mixtures_of_experts_too():
    """Their backbone gives more than hidden states, and their kernels know no float64."""
    model = tiny("mixtral", dtype=torch.float32)
    ids = batch()
    expected = model.module(input_ids=torch.from_numpy(ids), use_cache=False).logits
    torch.testing.assert_close(model.logits(model.hidden(joined([*ids]))), expected.flatten(0, 1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_texts_in_a_batch_do_not_see_one_another(family):
    """What a text gives alone it gives behind another one, and as the continuation of a prompt that others continue too (pitfall 12).
    To float32's digits: these families normalise in it whatever their weights are, and processors add up in various orders."""
    model = tiny(family, sliding_window=4) if family == "mistral" else tiny(family)
    first, second = batch()
    shared = model.hidden(continued(first, second))
    for text, places in ((first[:7], range(7)), (np.append(first[:4], second[:5]), [0, 1, 2, 3, *range(7, 12)])):
        alone = model.hidden(joined([text]))
        torch.testing.assert_close(shared[[*places]], alone, rtol=0, atol=1e-5)
        torch.testing.assert_close(model.hidden(joined([second, text]))[12:], alone, rtol=0, atol=1e-5)


def test_bfloat16_is_only_in_the_products():
    """Weights, logits and gradients stay float32; the result is near, and not equal to, the float32 one (pitfalls 20, 21)."""
    model, precise = tiny(dtype=torch.float32, compute="bfloat16"), tiny(dtype=torch.float32)
    ids = batch()
    logits = model.logits(model.hidden(joined([*ids])))
    expected = precise.logits(precise.hidden(joined([*ids])))
    assert logits.dtype == torch.float32
    assert not torch.equal(logits, expected)
    torch.testing.assert_close(logits, expected, rtol=0.05, atol=0.05 * expected.abs().max().item())
    logits.logsumexp(-1).sum().backward()
    assert (
        {weight.dtype for weight in model.parameters()} == {weight.grad.dtype for weight in model.parameters()} == {torch.float32}
    )


def test_dropout_is_off():
    """Two passes give the same, with the gradient switched on, in a model that has dropout (pitfall 22)."""
    model = tiny("llama", attention_dropout=0.5)
    assert not any(layer.training for layer in model.module.modules())
    ids = batch()
    assert torch.equal(model.hidden(joined([*ids])), model.hidden(joined([*ids])))


def test_gradient_checkpointing_recomputes_and_changes_nothing():
    """Layers run twice, dropout stays off inside them, and gradients are the same."""
    plain, lean = tiny(attention_dropout=0.5), tiny(attention_dropout=0.5)
    lean.module.activation_checkpointing_enable({"use_reentrant": False})
    lean = HfModel(lean.module, lean.tokenizer)
    lean.hidden(joined([*batch()]))  # the first time it is tried whether texts can be joined
    runs = []
    lean.module.model.layers[0].self_attn.register_forward_hook(lambda *_: runs.append(1))
    ids = batch()
    for model in (plain, lean):
        model.logits(model.hidden(joined([*ids]))).logsumexp(-1).sum().backward()
    assert len(runs) == 2
    for one, other in zip(plain.parameters(), lean.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0, atol=1e-12)


def test_the_pad_token_learns_like_any_other():
    """In models whose pad token is their EOS, an embedding's padding index would drop a real token's gradient (pitfall 5)."""
    model = tiny(tie_word_embeddings=False)
    ids = batch()
    pad = model.tokenizer.inner.pad_token_id
    ids[0, 3] = pad
    model.hidden(joined([*ids])).square().sum().backward()
    assert model.module.get_input_embeddings().weight.grad[pad].abs().sum() > 0


def test_tied_embeddings_are_one_parameter():
    """The optimizer must not move them twice."""
    model = tiny(tie_word_embeddings=True)
    weights = model.parameters()
    assert len(weights) == len({id(weight) for weight in weights})
    assert any(weight is model.module.lm_head.weight for weight in weights)
    assert model.module.lm_head.weight is model.module.get_input_embeddings().weight


def test_a_reference_stands_still():
    """Neither training the policy nor restoring it moves the copy; it offers nothing to train."""
    model = tiny()
    ids = batch()
    reference = model.reference()
    before = reference.logits(reference.hidden(joined([*ids])))
    assert torch.equal(before, model.logits(model.hidden(joined([*ids]))))
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1.1)
    after = reference.logits(reference.hidden(joined([*ids])))
    assert torch.equal(before, after)
    assert not torch.equal(after, model.logits(model.hidden(joined([*ids]))))
    assert reference.parameters() == []
    assert not after.requires_grad


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_saved_folder_loads_and_restores(tmp_path, tied, dtype):
    """transformers reads it (case K4), and restoring gives every weight back bit for bit, in the same storage."""
    model = tiny(dtype=dtype, tie_word_embeddings=tied)
    model.save(tmp_path)
    kept = copy.deepcopy(model.module.state_dict())
    places = [weight.data_ptr() for weight in model.parameters()]
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
    model.restore(tmp_path)
    assert [weight.data_ptr() for weight in model.parameters()] == places
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=dtype)
    for name, value in kept.items():
        assert torch.equal(model.module.state_dict()[name], value)
        assert torch.equal(loaded.state_dict()[name], value)
    assert list(tmp_path.glob("*.safetensors"))
    assert AutoTokenizer.from_pretrained(tmp_path).encode("a b\n") == model.tokenizer.encode("a b\n").tolist()
    assert (loaded.lm_head.weight is loaded.model.embed_tokens.weight) == tied


def test_restoring_another_model_is_an_error(tmp_path):
    """Weights of other shapes are never taken in part."""
    tiny().save(tmp_path)
    source = TinyRandom(layers=3)
    with pytest.raises(RuntimeError, match=r"layers\.2"):
        source.load().restore(tmp_path)
