from __future__ import annotations

import math

import pytest
import torch

from jackfield_optim.adamw import AdamW


def rates(optimizer, group, num_updates):
    return [optimizer.learning_rate(group, update, num_updates) for update in range(num_updates)]


def test_constant_after_a_linear_warm_up():
    """Three warm-up updates: a quarter, a half, three quarters, then all of it; never 0."""
    assert rates(AdamW(lr=4.0, warmup_updates=3), "policy", 6) == [1.0, 2.0, 3.0, 4.0, 4.0, 4.0]
    assert rates(AdamW(lr=4.0), "policy", 3) == [4.0, 4.0, 4.0]


def test_linear_would_reach_its_floor_after_the_last_update():
    """One warm-up update of 5, then 1, 3/4, 2/4, 1/4 of the way from the floor to the peak."""
    assert rates(AdamW(lr=8.0, warmup_updates=1, schedule="linear"), "policy", 5) == [4.0, 8.0, 6.0, 4.0, 2.0]
    floored = rates(AdamW(lr=8.0, warmup_updates=1, schedule="linear", min_ratio=0.5), "policy", 5)
    assert floored == [4.0, 8.0, 7.0, 6.0, 5.0]


def test_cosine():
    """(1 + cos(π · done)) / 2 at done = 0, 1/4, 1/2, 3/4, scaled to end at a tenth."""
    found = rates(AdamW(lr=1.0, schedule="cosine", min_ratio=0.1), "policy", 4)
    half = math.sqrt(2) / 2
    expected = [1.0, 0.1 + 0.9 * (1 + half) / 2, 0.55, 0.1 + 0.9 * (1 - half) / 2]
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_paper_settings_of_search_r1():
    """0.285 and 0.015 of 1000 updates: 285 for the policy, 15 for the critic; the fraction is rounded, not cut."""
    optimizer = AdamW(lr=1e-6, critic_lr=1e-5, warmup_fraction=0.285, critic_warmup_fraction=0.015)
    policy, critic = rates(optimizer, "policy", 1000), rates(optimizer, "critic", 1000)
    assert [rate < 1e-6 for rate in policy].index(False) == 285
    assert [rate < 1e-5 for rate in critic].index(False) == 15
    assert (policy[-1], critic[-1]) == (1e-6, 1e-5)


def test_the_critic_follows_the_policy_unless_told():
    """Rate and warm-up; 0 is an answer, not an absence. The longer of updates and fraction counts."""
    assert rates(AdamW(lr=2.0, warmup_updates=1), "critic", 3) == [1.0, 2.0, 2.0]
    assert rates(AdamW(lr=2.0, warmup_updates=1, critic_warmup_updates=0), "critic", 3) == [2.0, 2.0, 2.0]
    assert rates(AdamW(lr=2.0, warmup_fraction=0.5, critic_warmup_fraction=0.0), "critic", 2) == [2.0, 2.0]
    assert rates(AdamW(lr=3.0, warmup_fraction=0.5, warmup_updates=1), "policy", 4) == [1.0, 2.0, 3.0, 3.0]


def test_past_the_planned_end_the_floor_holds():
    """A resumed run with fewer steps than were taken asks for such updates."""
    assert AdamW(lr=1.0, schedule="linear", min_ratio=0.25).learning_rate("policy", 9, 4) == 0.25
    assert AdamW(lr=1.0, schedule="cosine", warmup_updates=4).learning_rate("policy", 4, 4) == 1.0


def test_groups_are_named():
    """Two groups with a rate each; without a critic one."""
    policy, critic = [torch.nn.Parameter(torch.ones(2))], [torch.nn.Parameter(torch.ones(3))]
    both = AdamW(lr=1e-3, critic_lr=1e-2).build(iter(policy), iter(critic))
    assert [(group["name"], group["lr"]) for group in both.param_groups] == [("policy", 1e-3), ("critic", 1e-2)]
    assert [group["name"] for group in AdamW(lr=1e-3).build(policy, []).param_groups] == ["policy"]


def by_hand(weight, gradients, *, lr, beta1, beta2, eps, decay):
    """Loshchilov & Hutter 2017, algorithm 2, in float64."""
    first = second = torch.zeros_like(weight)
    for step, gradient in enumerate(gradients, start=1):
        first = beta1 * first + (1 - beta1) * gradient
        second = beta2 * second + (1 - beta2) * gradient**2
        weight = weight - lr * decay * weight - lr * (first / (1 - beta1**step)) / ((second / (1 - beta2**step)).sqrt() + eps)
    return weight


def trained(dtype, gradients, start):
    weight = torch.nn.Parameter(start.to(dtype))
    optimizer = AdamW(lr=0.01, betas=(0.9, 0.95), eps=1e-6, weight_decay=0.1).build([weight], [])
    for gradient in gradients:
        weight.grad = gradient.to(dtype)
        optimizer.step()
    return weight.detach()


def test_updates_are_adamw():
    """Five updates of the fused kernel in float64 against the paper's algorithm."""
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(17, 5, dtype=torch.float64, generator=generator)
    gradients = [torch.randn(17, 5, dtype=torch.float64, generator=generator) for _ in range(5)]
    expected = by_hand(start, gradients, lr=0.01, beta1=0.9, beta2=0.95, eps=1e-6, decay=0.1)
    torch.testing.assert_close(trained(torch.float64, gradients, start), expected, rtol=1e-12, atol=1e-12)


def test_updates_repeat_bit_for_bit():
    """The same gradients give the same weights, however many threads work on them."""
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(301, 257, generator=generator)
    gradients = [torch.randn(301, 257, generator=generator) for _ in range(3)]
    once = trained(torch.float32, gradients, start)
    assert torch.equal(once, trained(torch.float32, gradients, start))
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3 - min(threads, 2))
        assert torch.equal(once, trained(torch.float32, gradients, start))
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"lr": 0.0}, "lr"),
        ({"lr": 1.0, "betas": (0.9,)}, "betas"),
        ({"lr": 1.0, "betas": (0.9, 1.0)}, "betas"),
        ({"lr": 1.0, "warmup_fraction": 1.5}, "warmup_fraction"),
        ({"lr": 1.0, "critic_lr": -1.0}, "critic_lr"),
        ({"lr": 1.0, "critic_warmup_updates": -1}, "critic_warmup_updates"),
    ],
)
def test_keys_are_checked(keys, message):
    """Constructing the component is enough."""
    with pytest.raises(ValueError, match=message):
        AdamW(**keys)
