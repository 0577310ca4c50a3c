"""The entropy bonus."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from jackfield.corridor import Named
from jackfield.learn import Learner
from jackfield.pack import joined
from jackfield.settings import Learn
from jackfield.testing.tiny_model import Sgd, TinyModel, credited_rollout, one_group_each
from jackfield_ppo.entropy import Entropy

ROLLOUTS = [
    credited_rollout([("task", [1, 2]), ("policy", [3, 4]), ("environment", [5] * 6), ("policy", [6])]),
    credited_rollout([("task", [7]), ("policy", [8, 9])]),
]


def test_it_is_the_mean_entropy_of_the_policys_tokens() -> None:
    """A6: minus the mean, in nats, of the entropies where the policy wrote, against torch's own; observations and padding (of the
    shorter row) are not in it, so that it cannot come out with the wrong sign."""
    policy = TinyModel.new()
    want = []
    for rollout in ROLLOUTS:
        logits = policy.logits(policy.hidden(joined([rollout.tokens]))).detach()
        entropies = torch.distributions.Categorical(logits=logits).entropy()
        want += [entropies[t - 1].item() for t in np.flatnonzero(rollout.policy_mask)]
    optimizer = Sgd()
    learner = Learner(
        policy=policy,
        critic=None,
        losses=[Named(name="entropy", part=Entropy(), weight=0.01)],
        optimizer=optimizer,
        torch_optimizer=optimizer.build(policy.parameters(), []),
        settings=Learn(),
        temperature=1.0,
        seed=0,
        num_updates=1,
    )
    metrics = learner.learn(one_group_each(ROLLOUTS), step=0)
    assert metrics["losses/entropy"] == pytest.approx(-np.mean(want), rel=1e-12)
    assert metrics["policy/entropy"] == pytest.approx(np.mean(want), rel=1e-12)
    assert min(want) > 0
