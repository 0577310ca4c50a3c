from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from jackfield.errors import RecipeError
from jackfield.pack import joined
from jackfield_transformers.tiny_random import TinyRandom
from jackfield_transformers.value_head import ValueHead

TEXTS = np.random.default_rng(0).integers(0, 256, (2, 8))
BATCH = joined([*TEXTS], [np.array([2, 5]), np.array([4])])


def started(policy, seed=1, **keys):
    critic = ValueHead(init_std=keys.pop("init_std", 0.1), **keys)
    critic.start(policy, seed)
    return critic


def values(critic, policy):
    return critic.values(BATCH, policy.hidden(BATCH)[BATCH.state_N])


@pytest.mark.parametrize("backbone", ["own", "shared"])
def test_values_are_the_head_on_the_hidden_state(backbone):
    """At the start both backbones are the policy's: w · h + b at the chosen positions, in float64 here."""
    policy = TinyRandom(compute="float32").load()
    policy.module.double()
    critic = started(policy, backbone=backbone)
    head = critic._modules["head"]
    hidden = [policy.hidden(joined([text])) for text in TEXTS]
    expected = torch.stack([state @ head.weight[0] + head.bias[0] for state in (hidden[0][2], hidden[0][5], hidden[1][4])])
    found = values(critic, policy)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_the_head_is_float32_under_bfloat16():
    """Values are not rounded to bfloat16."""
    policy = TinyRandom(compute="bfloat16").load()
    found = values(started(policy), policy)
    assert found.dtype == torch.float32
    assert not torch.equal(found, found.bfloat16().float())


def test_the_seed_fixes_the_head_and_zero_is_zero():
    """Same seed, same values; with init_std 0 every value starts as exactly 0."""
    policy = TinyRandom(compute="float32").load()
    assert torch.equal(values(started(policy, seed=1), policy), values(started(policy, seed=1), policy))
    assert not torch.equal(values(started(policy, seed=1), policy), values(started(policy, seed=2), policy))
    assert values(started(policy, init_std=0.0), policy).tolist() == [0.0, 0.0, 0.0]


def test_an_own_backbone_is_apart_from_the_policy():
    """The value loss leaves the policy without gradient, and training the policy changes no value."""
    policy = TinyRandom(compute="float32").load()
    critic = started(policy)
    values(critic, policy).sum().backward()
    assert all(weight.grad is None for weight in policy.parameters())
    assert sum(weight.grad.abs().sum() > 0 for weight in critic.parameters()) > 10
    before = values(critic, policy)
    with torch.no_grad():
        for weight in policy.parameters():
            weight.mul_(1.5)
    assert torch.equal(values(critic, policy), before)
    assert not {id(weight) for weight in critic.parameters()} & {id(weight) for weight in policy.parameters()}


@pytest.mark.parametrize("detach", [False, True])
def test_a_shared_backbone_feels_the_value_loss_unless_detached(detach):
    """The critic's own parameters are the head's two; detach keeps the policy without gradient."""
    policy = TinyRandom(compute="float32").load()
    critic = started(policy, backbone="shared", detach=detach)
    values(critic, policy).sum().backward()
    assert len(critic.parameters()) == 2
    assert any(weight.grad is not None for weight in policy.parameters()) is not detach


def test_under_lora_only_adapters_of_its_own_are_trained():
    """The copy's adapters and the head move; the policy's do not."""
    pytest.importorskip("peft")
    policy = TinyRandom(compute="float32", lora_rank=2).load()
    critic = started(policy)
    assert len(critic.parameters()) == len(policy.parameters()) + 2
    values(critic, policy).sum().backward()
    assert all(weight.grad is None for weight in policy.parameters())


@pytest.mark.parametrize("backbone", ["own", "shared"])
def test_saves_and_restores_bit_for_bit(tmp_path, backbone):
    """In place, so that an optimizer keeps its hold."""
    policy = TinyRandom(compute="float32").load()
    critic = started(policy, backbone=backbone)
    kept = copy.deepcopy([weight.detach() for weight in critic.parameters()])
    critic.save(tmp_path / "critic")
    weights = critic.parameters()
    with torch.no_grad():
        for weight in weights:
            weight.add_(1.0)
    critic.restore(tmp_path / "critic")
    assert all(torch.equal(weight, old) for weight, old in zip(weights, kept, strict=True))


def test_refuses_what_it_cannot_use():
    """A model of another plugin, and keys that contradict each other."""
    with pytest.raises(RecipeError, match="found object"):
        ValueHead().start(object(), seed=0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="detach"):
        ValueHead(detach=True)


def reward_checkpoint(folder, *, heads=4):
    """Of a reward model of any size with the policy's tokenizer."""
    policy = TinyRandom(compute="float32", heads=heads, seed=9).load()
    critic = started(policy, backbone="shared", seed=5)
    policy.save(folder / "model")
    critic.save(folder / "critic")
    return policy, critic


@pytest.mark.parametrize("heads", [2, 4])
def test_starts_as_a_reward_model(tmp_path, heads):
    """The first values are its scores, whatever size the policy has; the policy feels nothing of it."""
    owner, theirs = reward_checkpoint(tmp_path, heads=heads)
    policy = TinyRandom(compute="float32").load()
    critic = started(policy, init_std=0.0, path=str(tmp_path))
    torch.testing.assert_close(values(critic, policy), values(theirs, owner), rtol=0, atol=1e-6)
    values(critic, policy).sum().backward()
    assert all(weight.grad is None for weight in policy.parameters())
    assert sum(weight.grad.abs().sum() > 0 for weight in critic.parameters()) > 10
    critic.save(tmp_path / "again")
    before = values(critic, policy)
    with torch.no_grad():
        for weight in critic.parameters():
            weight.add_(1.0)
    critic.restore(tmp_path / "again")
    assert torch.equal(values(critic, policy), before)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_starts_as_a_reward_model_under_lora(tmp_path):
    """New adapters, which change nothing at first, and the head are what is trained."""
    pytest.importorskip("peft")
    owner, theirs = reward_checkpoint(tmp_path)
    policy = TinyRandom(compute="float32", lora_rank=2).load()
    critic = started(policy, init_std=0.0, path=str(tmp_path))
    torch.testing.assert_close(values(critic, policy), values(theirs, owner), rtol=0, atol=1e-6)
    assert len(critic.parameters()) == len(policy.parameters()) + 2


def test_refuses_a_reward_model_that_cannot_be_a_critic(tmp_path):
    """Another tokenizer's ids would mean other tokens; a shared backbone has no room for its transformer."""
    reward_checkpoint(tmp_path)
    inner = AutoTokenizer.from_pretrained(tmp_path / "model")
    inner.add_tokens(["four"])
    inner.save_pretrained(tmp_path / "model")
    with pytest.raises(RecipeError, match="another tokenizer than the policy"):
        started(TinyRandom(compute="float32").load(), init_std=0.0, path=str(tmp_path))
    with pytest.raises(ValueError, match="path: means nothing with backbone = 'shared'"):
        ValueHead(path="x", backbone="shared")
    with pytest.raises(ValueError, match="init_std"):
        ValueHead(path="x", init_std=0.1)
