from __future__ import annotations

import copy

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from jackfield_transformers.model import HfModel
from jackfield_transformers.tiny_random import TinyRandom

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


def batch(rows=2, length=12, seed=0):
    ids = torch.randint(0, 256, (rows, length), generator=torch.Generator().manual_seed(seed))
    return ids, torch.arange(length).expand(rows, length).clone()


@pytest.mark.parametrize("family", FAMILIES)
def test_hidden_and_logits_are_those_of_the_model(family):
    """Split at the head, everything the family does after it (Gemma-2 soft-caps, Cohere and Granite scale) is still done."""
    model = tiny(family, logit_scale=0.3) if family == "cohere" else tiny(family)
    ids, positions = batch()
    expected = model.module(input_ids=ids, use_cache=False).logits
    hidden = model.hidden(ids, positions)
    logits = model.logits(hidden.flatten(0, 1))
    assert hidden.dtype == logits.dtype == torch.float64
    torch.testing.assert_close(logits, expected.flatten(0, 1), rtol=0, atol=1e-12)


def test_mixtures_of_experts_too():
    """Their backbone gives more than hidden states, and their kernels know no float64."""
    model = tiny("mixtral", dtype=torch.float32)
    ids, positions = batch()
    expected = model.module(input_ids=ids, use_cache=False).logits
    torch.testing.assert_close(model.logits(model.hidden(ids, positions)[0]), expected[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("padding_positions", ["rising", "zero"])
def test_a_padded_end_changes_nothing_before_it(family, padding_positions):
    """Whatever ids and positions the padding has; a short row alone gives what it gives in the batch (pitfall 12)."""
    model = tiny(family, sliding_window=4) if family == "mistral" else tiny(family)
    ids, positions = batch()
    alone = model.hidden(ids[:1, :7], positions[:1, :7])
    full = model.hidden(ids, positions)
    ids[0, 7:] = model.tokenizer.inner.pad_token_id
    if padding_positions == "zero":
        positions[0, 7:] = 0
    padded = model.hidden(ids, positions)
    torch.testing.assert_close(padded[0, :7], alone[0], rtol=0, atol=1e-12)
    torch.testing.assert_close(padded[1], full[1], rtol=0, atol=1e-12)


def test_positions_are_the_ones_given():
    """Learned absolute positions (GPT-2) show which were used, and a jump in them hides nothing from later tokens."""
    model = tiny("gpt2")
    ids, positions = batch()
    assert not torch.allclose(model.hidden(ids, positions + 3), model.hidden(ids, positions))
    jump = positions + 20 * (positions >= 6)
    changed = ids.clone()
    changed[:, 0] += 1
    moved = (model.hidden(changed, jump) - model.hidden(ids, jump)).abs().amax(-1)
    assert (moved > 1e-6).all()


def test_bfloat16_is_only_in_the_products():
    """Weights, logits and gradients stay float32; the result is near, and not equal to, the float32 one (pitfalls 20, 21)."""
    model, precise = tiny(dtype=torch.float32, compute="bfloat16"), tiny(dtype=torch.float32)
    ids, positions = batch()
    logits = model.logits(model.hidden(ids, positions)[0])
    expected = precise.logits(precise.hidden(ids, positions)[0])
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
    ids, positions = batch()
    assert torch.equal(model.hidden(ids, positions), model.hidden(ids, positions))


def test_gradient_checkpointing_recomputes_and_changes_nothing():
    """Layers run twice, dropout stays off inside them, and gradients are the same."""
    plain, lean = tiny(attention_dropout=0.5), tiny(attention_dropout=0.5)
    lean.module.activation_checkpointing_enable({"use_reentrant": False})
    lean = HfModel(lean.module, lean.tokenizer)
    runs = []
    lean.module.model.layers[0].self_attn.register_forward_hook(lambda *_: runs.append(1))
    ids, positions = batch()
    for model in (plain, lean):
        model.logits(model.hidden(ids, positions)[0]).logsumexp(-1).sum().backward()
    assert len(runs) == 2
    for one, other in zip(plain.parameters(), lean.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0, atol=1e-12)


def test_the_pad_token_learns_like_any_other():
    """In models whose pad token is their EOS, an embedding's padding index would drop a real token's gradient (pitfall 5)."""
    model = tiny(tie_word_embeddings=False)
    ids, positions = batch()
    pad = model.tokenizer.inner.pad_token_id
    ids[0, 3] = pad
    model.hidden(ids, positions).square().sum().backward()
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
    ids, positions = batch()
    reference = model.reference()
    before = reference.logits(reference.hidden(ids, positions)[0])
    assert torch.equal(before, model.logits(model.hidden(ids, positions)[0]))
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1.1)
    after = reference.logits(reference.hidden(ids, positions)[0])
    assert torch.equal(before, after)
    assert not torch.equal(after, model.logits(model.hidden(ids, positions)[0]))
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
