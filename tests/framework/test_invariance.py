"""One optimizer update does not depend on how it is cut up: real losses, optimizer and critic on a float64 transformers model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from attrs import evolve, frozen

from jackfield import pack
from jackfield.corridor import Named
from jackfield.learn import Learner
from jackfield.measure import Passes
from jackfield.settings import Learn
from jackfield.testing.tiny_model import credited_rollout, one_group_each
from jackfield.types import Credited
from jackfield_kl.loss import Kl
from jackfield_optim.adamw import AdamW
from jackfield_ppo.entropy import Entropy
from jackfield_ppo.policy import PpoClip
from jackfield_ppo.value import ValueClip
from jackfield_sft.loss import CrossEntropy
from jackfield_transformers import pieces
from jackfield_transformers.model import HfModel
from jackfield_transformers.tiny_random import TinyRandom
from jackfield_transformers.value_head import ValueHead

TEMPERATURE = 0.7
LOSSES: dict[str, Any] = {
    "ppo_clip": PpoClip(),
    "dual_clip": PpoClip(clip_low=0.1, clip_high=0.3, dual_clip=1.2),
    "value_clip": ValueClip(clip=0.5),
    "kl k1": Kl(estimator="k1"),
    "kl k2": Kl(estimator="k2"),
    "kl k3": Kl(estimator="k3"),
    "kl k3_with_k2_gradient": Kl(estimator="k3_with_k2_gradient"),
    "entropy": Entropy(),
    "cross_entropy": CrossEntropy(),
}
SHAPES: list[list[tuple[str, int]]] = [
    [("task", 5), ("policy", 7), ("environment", 9), ("policy", 4)],
    [("task", 3), ("policy", 12)],
    [("task", 6), ("policy", 1), ("environment", 20), ("policy", 3), ("environment", 4)],
    [("task", 9), ("policy", 2)],
    [("task", 2), ("policy", 5), ("environment", 1), ("policy", 5), ("environment", 3), ("policy", 5)],
]


def model() -> HfModel:
    """Two llama layers in float64, always the same."""
    loaded = TinyRandom(heads=2, compute="float32", device="cpu").load()
    return HfModel(loaded.module.double(), TinyRandom().tokenizer())


@pytest.fixture(scope="module")
def rollouts() -> list[Credited]:
    rng = np.random.default_rng(0)
    return near([credited_rollout([(w, rng.integers(0, 256, n).tolist()) for w, n in s], seed=i) for i, s in enumerate(SHAPES)])  # type: ignore[misc]


def near(drawn: list[Credited]) -> list[Credited]:
    """Ratios of e^±0.3 or so to the policy, references a little further; NaN where the policy did not write."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    passes = Passes(needs={"old_logp"}, policy=model(), reference=None, critic=None, temperature=TEMPERATURE, chunk=8)
    found: list[Any] = [values["old_logp"] for values in passes.of(drawn)]

    def moved(array: Any, by: float) -> Any:
        return array + rng.normal(0, by, len(array))

    return [evolve(r, old_logp=moved(logp, 0.3), ref_logp=moved(logp, 0.5)) for r, logp in zip(drawn, found, strict=True)]


def updated(
    rollouts: list[Credited], losses: dict[str, Any], backbone: str, **settings: Any
) -> tuple[torch.Tensor, dict[str, float]]:
    """(how far every weight moved in one update, metrics), from the same start."""
    policy, critic = model(), ValueHead(backbone=backbone, init_std=0.3)  # type: ignore[arg-type]
    optimizer = AdamW(lr=1e-2, critic_lr=1e-1, eps=1e-6)  # not less: a first move is g / (|g| + eps), and some g are rounding alone
    critic.start(policy, seed=1)
    torch_optimizer = optimizer.build(policy.parameters(), critic.parameters())
    learner = Learner(
        policy=policy,
        critic=critic,
        losses=[Named(name=name, part=loss, weight=0.5) for name, loss in losses.items()],
        optimizer=optimizer,
        torch_optimizer=torch_optimizer,
        settings=Learn(**settings),
        temperature=TEMPERATURE,
        seed=0,
        num_updates=1,
    )
    parameters = [p for group in torch_optimizer.param_groups for p in group["params"]]
    before = torch.cat([p.detach().flatten() for p in parameters])
    metrics = learner.learn(one_group_each(rollouts), step=0)
    return torch.cat([p.detach().flatten() for p in parameters]) - before, metrics


def assert_same(found: tuple[torch.Tensor, dict[str, float]], want: tuple[torch.Tensor, dict[str, float]]) -> None:
    """The move to 1e-6 of its length, and every metric."""
    assert float(want[0].norm()) > 0
    assert float((found[0] - want[0]).norm() / want[0].norm()) < 1e-6
    assert found[1] == pytest.approx(want[1], rel=1e-6, abs=1e-12)


def how(aggregation: str) -> dict[str, Any]:
    return {"aggregation": aggregation, "fixed_length": 11 if aggregation == "fixed_length" else None}


@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean", "fixed_length"])
@pytest.mark.parametrize("name", [*LOSSES, "all"])
def test_one_update_however_it_is_cut(rollouts: list[Credited], name: str, aggregation: str) -> None:
    """Pitfalls 12, 40, 44: each loss, and all at once; one row at a time or several, logits in small chunks, rows in another order."""
    losses = LOSSES if name == "all" else {name: LOSSES[name]}
    backbone = "own" if name == "value_clip" else "shared"
    want = updated(rollouts, losses, backbone, **how(aggregation))
    for given, cut in [
        (rollouts, {"tokens_per_microbatch": 1}),
        (rollouts[::-1], {"tokens_per_microbatch": 64}),
        ([rollouts[i] for i in (2, 0, 4, 1, 3)], {"logits_chunk": 3}),
    ]:
        assert_same(updated(given, losses, backbone, **how(aggregation), **cut), want)


@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean", "fixed_length"])
def test_one_update_however_it_is_padded(rollouts: list[Credited], aggregation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pitfall 12: joined without padding; as rows; as rows with columns of any ids at any positions on their right."""
    want = updated(rollouts, LOSSES, "own", **how(aggregation))
    monkeypatch.setattr(pieces, "packed_hidden", pieces.padded_hidden)
    assert_same(updated(rollouts, LOSSES, "own", **how(aggregation)), want)
    rows = pack.Packed.rows

    def padded(packed: pack.Packed) -> pack.Rows:
        made = rows(packed)
        more = torch.from_numpy(np.random.default_rng(3).integers(0, 256, (len(made.ids_BC), 13)))
        return evolve(
            made,
            ids_BC=torch.cat([made.ids_BC, more], 1),
            positions_BC=torch.cat([made.positions_BC, more % 7], 1),
        )

    monkeypatch.setattr(pack.Packed, "rows", padded)
    assert_same(updated(rollouts, LOSSES, "own", **how(aggregation)), want)


@pytest.mark.parametrize("backbone", ["own", "shared"])
def test_one_update_whether_a_prompt_is_shared_or_not(backbone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups whose members have one prompt: computed once for all, once for each, or in micro-batches that cut through a group."""
    rng = np.random.default_rng(1)
    prompts = [rng.integers(0, 256, n).tolist() for n in (9, 4)]
    shapes = [(p, n, e) for p in prompts for n, e in ((3, 0), (1, 5), (6, 2))]
    drawn = [
        [("task", p), ("policy", rng.integers(0, 256, n).tolist()), ("environment", [7] * e), ("policy", [8])] for p, n, e in shapes
    ]
    given = near([credited_rollout(segments, seed=i) for i, segments in enumerate(drawn)])  # type: ignore[arg-type]
    assert len(pack.packed(given).pieces) == 8
    want = updated(given, LOSSES, backbone)
    assert_same(updated(given, LOSSES, backbone, tokens_per_microbatch=20), want)
    assert_same(updated([given[i] for i in (0, 3, 1, 4, 2, 5)], LOSSES, backbone), want)
    monkeypatch.setattr(pieces, "packed_hidden", pieces.padded_hidden)
    assert_same(updated(given, LOSSES, backbone), want)


def test_means_of_means_would_be_found(rollouts: list[Credited]) -> None:
    """The tests above can fail: a loss that divides by its micro-batch's tokens moves the weights otherwise in another split."""

    @frozen
    class Dividing:
        unit = "token"

        def terms(self, batch: Any) -> Any:
            found = CrossEntropy().terms(batch)
            return evolve(found, term=found.term / len(found.term))

    want = updated(rollouts, {"loss": Dividing()}, "shared")
    found = updated(rollouts, {"loss": Dividing()}, "shared", tokens_per_microbatch=1)
    assert float((found[0] - want[0]).norm() / want[0].norm()) > 1e-3
