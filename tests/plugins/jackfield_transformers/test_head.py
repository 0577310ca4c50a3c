from __future__ import annotations

import pytest
import torch

from jackfield_transformers.tiny_random import TinyRandom


def hidden_states(rows=40):
    return torch.randn(rows, 64, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_logits_are_never_rounded_to_bfloat16(family):
    """Only the factors are (pitfall 20): results lie between bfloat16 values, also after Gemma-2's soft cap."""
    logits = TinyRandom(architecture=family, compute="bfloat16").load().logits(hidden_states())
    assert logits.dtype == torch.float32
    assert (logits != logits.bfloat16().float()).float().mean() > 0.9


def test_products_are_those_of_rounded_factors():
    """Values and both gradients against float64, to the precision of bfloat16 factors (relative to the largest)."""
    model = TinyRandom(compute="bfloat16").load()
    hidden = hidden_states().requires_grad_()
    weight = model.module.lm_head.weight
    upstream = torch.randn(40, weight.shape[0], generator=torch.Generator().manual_seed(1))
    logits = model.logits(hidden)
    logits.backward(upstream)
    expected = {
        "logits": hidden.double() @ weight.double().T,
        "hidden": upstream.double() @ weight.double(),
        "weight": upstream.double().T @ hidden.double(),
    }
    found = {"logits": logits, "hidden": hidden.grad, "weight": weight.grad}
    for name, value in expected.items():
        assert (found[name].double() - value).abs().max() < 2**-7 * value.abs().max(), name


def test_the_setting_for_products_is_put_back():
    """Nothing outside the head is computed with rounded factors."""
    before = torch.get_float32_matmul_precision()
    hidden = hidden_states().requires_grad_()
    TinyRandom(compute="bfloat16").load().logits(hidden).sum().backward()
    assert torch.get_float32_matmul_precision() == before


def test_a_frozen_weight_gets_no_gradient():
    """A reference or a LoRA policy still passes the gradient on to the hidden states."""
    model = TinyRandom(compute="bfloat16").load().reference()
    hidden = hidden_states().requires_grad_()
    model.logits(hidden).sum().backward()
    assert hidden.grad is not None
    assert model.module.lm_head.weight.grad is None
