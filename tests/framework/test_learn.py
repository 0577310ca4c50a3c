"""Learning divides once, trains only what the policy wrote, and does not care how an update is cut up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from attrs import evolve, frozen

from jackfield import pack
from jackfield.corridor import Named
from jackfield.learn import Learner
from jackfield.loss_batch import LossBatch, LossTerms
from jackfield.settings import Learn
from jackfield.testing.tiny_model import Sgd, TinyCritic, TinyModel, credited_rollout, one_group_each
from jackfield.types import Credited, Group

PIECES = [
    [("task", [1, 2, 3]), ("policy", [4, 5, 6]), ("environment", [7, 8]), ("policy", [9, 0])],
    [("task", [1, 2]), ("policy", [10, 11, 12, 13, 14, 0])],
    [("task", [3]), ("policy", [15]), ("environment", [16, 17, 18, 19]), ("policy", [20, 21]), ("environment", [22])],
    [("task", [5, 6, 7, 8, 9]), ("policy", [1, 0])],
]


@frozen
class PolicyGradient:
    """−ratio·advantage, written plainly."""

    unit = "token"

    def terms(self, batch: LossBatch) -> LossTerms:
        ratio = (batch.logp_N - batch.old_logp_N).exp()
        return LossTerms(term=-ratio * batch.advantage_N, metrics={"ratio": ratio.detach()})


@frozen
class Everything:
    """A term that uses every field a loss can see."""

    unit = "token"

    def terms(self, batch: LossBatch) -> LossTerms:
        term = -(batch.logp_N - batch.old_logp_N).exp() * batch.advantage_N + (batch.logp_N - batch.ref_logp_N) ** 2
        term = term + (batch.value_N - batch.return_N) ** 2 + (batch.value_N - batch.old_value_N) ** 2 - 0.1 * batch.entropy_N
        return LossTerms(term=term)


@frozen
class PerRollout:
    """The squared sum of a rollout's log-probs: a unit of its own."""

    unit = "rollout"

    def terms(self, batch: LossBatch) -> LossTerms:
        total = torch.zeros(batch.num_rollouts, dtype=batch.logp_N.dtype).index_add(0, batch.rollout_N, batch.logp_N)
        return LossTerms(term=total**2)


@frozen
class Pairwise:
    """−log σ of the difference of the log-probs of the two sides of a group: the shape of DPO."""

    unit = "group"

    def terms(self, batch: LossBatch) -> LossTerms:
        margin = batch.sum_by_group(batch.side_R * batch.sum_by_rollout(batch.logp_N))
        return LossTerms(term=torch.nn.functional.softplus(-margin), metrics={"margin": margin.detach()})


@frozen
class Ranked:
    """The same of the critic's scores: the shape of a reward model's loss."""

    unit = "group"
    needs = frozenset({"score"})
    reads_policy = False

    def terms(self, batch: LossBatch) -> LossTerms:
        assert batch.score_R is not None
        return LossTerms(term=torch.nn.functional.softplus(-batch.sum_by_group(batch.side_R * batch.score_R)))


@frozen
class Stepwise:
    """The squared error of the critic's scores of turns: the shape of a process reward model's loss."""

    unit = "turn"
    needs = frozenset({"score", "returns"})
    reads_policy = False

    def terms(self, batch: LossBatch) -> LossTerms:
        assert batch.turn_score_S is not None
        assert batch.return_N is not None
        error = batch.turn_score_S - batch.return_N[batch.turn_end_S]
        return LossTerms(term=error.square(), metrics={"error": error.detach()})


@frozen
class ChosenOnly:
    """Cross entropy of the rollouts whose advantage is positive."""

    unit: str = "token"

    def counts(self, rollout: Credited) -> bool:
        return bool(rollout.advantage[rollout.policy_mask][0] > 0)

    def terms(self, batch: LossBatch) -> LossTerms:
        by_unit = {
            "token": lambda: batch.logp_N,
            "turn": lambda: batch.logp_N[batch.turn_end_S],
            "rollout": lambda: batch.sum_by_rollout(batch.logp_N),
        }
        return LossTerms(term=-by_unit[self.unit]())


def pairs() -> list[Group[Credited]]:
    """Two groups of two; in the first the first member is preferred, in the second the second."""
    sides = [1.0, -1.0, -1.0, 1.0]
    sided = [
        evolve(r, advantage=np.where(r.policy_mask, side, np.nan), member=i % 2)
        for i, (r, side) in enumerate(zip(rollouts(), sides, strict=True))
    ]
    return [Group(id=str(i), task=sided[2 * i].task, members=tuple(sided[2 * i : 2 * i + 2])) for i in range(2)]


def rollouts(**changes: Any) -> list[Credited]:
    return [credited_rollout(p, seed=i, **changes) for i, p in enumerate(PIECES)]  # type: ignore[arg-type]


def updated(given: list[Credited], loss: Any, *, critic: bool = False, dtype: torch.dtype = torch.float64, **settings: Any):
    """(parameters after learning, metrics) from the same start."""
    return learnt_from(one_group_each(given), loss, critic=critic, dtype=dtype, **settings)


def learnt_from(
    groups: list[Group[Credited]], loss: Any, *, critic: bool = False, dtype: torch.dtype = torch.float64, **settings: Any
):
    """As ``updated``, from groups."""
    policy = TinyModel.new(dtype=dtype)
    value = TinyCritic() if critic else None
    if value is not None:
        value.start(policy, seed=1)
    optimizer = Sgd(lr=0.05)
    learner = Learner(
        policy=policy,
        critic=value,
        losses=[Named(name="loss", part=loss)],
        optimizer=optimizer,
        torch_optimizer=optimizer.build(policy.parameters(), value.parameters() if value else []),
        settings=Learn(**{"max_grad_norm": 1e9, **settings}),
        temperature=1.0,
        seed=0,
        num_updates=4,
    )
    metrics = learner.learn(groups, step=0)
    parameters = [*policy.parameters(), *(value.parameters() if value else [])]
    return torch.cat([p.detach().flatten() for p in parameters]), metrics


@pytest.mark.parametrize("loss", [PolicyGradient(), Everything(), PerRollout(), Stepwise()])
@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean", "fixed_length"])
def test_any_split_padding_and_order_gives_the_same_update(loss: Any, aggregation: str) -> None:
    """One row at a time, all at once, small chunks, another row order: the same parameters to 1e-12."""
    how: dict[str, Any] = {"aggregation": aggregation, "fixed_length": 7 if aggregation == "fixed_length" else None, "critic": True}
    want, metrics = updated(rollouts(), loss, **how)
    for given, cut in [
        (rollouts(), {"tokens_per_microbatch": 1}),
        (rollouts(), {"tokens_per_microbatch": 12}),
        (rollouts(), {"logits_chunk": 2}),
        (rollouts()[::-1], {"tokens_per_microbatch": 16}),
    ]:
        found, other = updated(given, loss, **how, **cut)
        torch.testing.assert_close(found, want, rtol=1e-12, atol=1e-13)
        assert other == pytest.approx(metrics, rel=1e-9)


def test_what_the_policy_did_not_write_changes_nothing() -> None:
    """NaN, infinity or any number at every other position of every array: bit for bit the same parameters and metrics."""
    want, metrics = updated(rollouts(hidden_fill=float("nan")), Everything(), critic=True)
    for fill in (0.0, 1e30, float("inf")):
        found, other = updated(rollouts(hidden_fill=fill), Everything(), critic=True)
        assert torch.equal(found, want)
        assert other == metrics
    assert torch.isfinite(want).all()


def test_logits_elsewhere_get_no_gradient() -> None:
    """A17: the gradient of the loss by the hidden state is exactly zero wherever no policy token is predicted."""
    given = rollouts()
    policy = TinyModel.new()
    seen: list[torch.Tensor] = []

    class Watched(TinyModel):
        def hidden(self, packed: pack.Packed) -> torch.Tensor:
            hidden = super().hidden(packed).detach().requires_grad_(True)
            seen.append(hidden)
            return hidden

    watched = Watched(policy.module, policy.tokenizer)
    optimizer = Sgd()
    learner = Learner(
        policy=watched, critic=None, losses=[Named(name="loss", part=PolicyGradient())], optimizer=optimizer,
        torch_optimizer=optimizer.build(policy.parameters(), []), settings=Learn(), temperature=1.0, seed=0, num_updates=1,
    )  # fmt: skip
    learner.learn(one_group_each(given), step=0)
    (hidden,) = seen
    assert hidden.grad is not None
    predicts = torch.from_numpy(np.concatenate([r.policy_mask[1 : pack.row_length(r) + 1] for r in given]))
    assert (hidden.grad[~predicts] == 0).all()
    assert (hidden.grad[predicts].abs().sum(-1) > 0).all()


def test_tokens_of_the_environment_after_the_last_action_do_not_matter() -> None:
    """Trailing observations are not even computed."""
    want, _ = updated(rollouts(), PolicyGradient())
    longer = [
        credited_rollout([*p, ("environment", [2] * 9)], seed=i) if i < 2 else credited_rollout(p, seed=i)  # type: ignore[list-item, arg-type]
        for i, p in enumerate(PIECES)
    ]
    for new, old in zip(longer, rollouts(), strict=True):
        for name in ("old_logp", "ref_logp", "advantage"):
            getattr(new, name)[new.policy_mask] = getattr(old, name)[old.policy_mask]
    found, _ = updated(longer, PolicyGradient())
    assert torch.equal(found, want)


def test_the_update_is_the_gradient_of_the_formula() -> None:
    """One SGD update against autograd of −Σ ratio·A / tokens written out over whole sequences."""
    given = rollouts()
    policy = TinyModel.new()
    objective = torch.zeros((), dtype=torch.float64)
    for r in given:
        logp = policy.logits(policy.hidden(pack.joined([r.tokens]))).log_softmax(-1)
        for t in np.flatnonzero(r.policy_mask):
            objective = objective - (logp[t - 1, r.tokens[t]] - r.old_logp[t]).exp() * r.advantage[t]
    (objective / sum(r.num_policy_tokens for r in given)).backward()
    want = torch.cat([(p - 0.05 * p.grad).detach().flatten() for p in policy.parameters()])
    found, _ = updated(given, PolicyGradient())
    torch.testing.assert_close(found, want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("aggregation", "want"), [("sequence_mean", 0.0), ("token_mean", -0.6), ("fixed_length", -0.3)])
def test_three_aggregations_by_hand(aggregation: str, want: float) -> None:
    """A8: lengths 2 and 8, per-token objective +1 and −1: (1 − 1)/2 = 0; (2 − 8)/10 = −0.6; (2 − 8)/(2 × 10) = −0.3."""

    @frozen
    class Advantage:
        unit = "token"

        def terms(self, batch: LossBatch) -> LossTerms:
            return LossTerms(term=batch.advantage_N + 0 * batch.logp_N)

    given = []
    for length, objective in ((2, 1.0), (8, -1.0)):
        rollout = credited_rollout([("task", [1]), ("policy", [2] * length)])
        given.append(evolve(rollout, advantage=np.full(length + 1, objective)))
    _, metrics = updated(given, Advantage(), aggregation=aggregation, fixed_length=10 if aggregation == "fixed_length" else None)
    assert metrics["losses/loss"] == pytest.approx(want, abs=1e-12)


def test_temperature_of_sampling_is_the_temperature_of_training() -> None:
    """Pitfall 16: log-probs are of softmax(z / T)."""
    from jackfield.logprobs import token_logp

    policy = TinyModel.new()
    hidden = torch.randn(5, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    target = torch.tensor([1, 2, 3, 4, 5])
    logp, entropy = token_logp(policy, hidden, target, temperature=0.7, chunk=2)
    distribution = torch.distributions.Categorical(logits=policy.logits(hidden) / 0.7)
    torch.testing.assert_close(logp, distribution.log_prob(target), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(entropy, distribution.entropy(), rtol=1e-12, atol=1e-12)


def test_nothing_to_learn_from_is_a_skipped_step() -> None:
    """T14: no policy token anywhere gives no NaN and no update, and is counted."""
    want = torch.cat([p.detach().flatten() for p in TinyModel.new().parameters()])
    found, metrics = updated([credited_rollout([("task", [1, 2]), ("environment", [3])])], PolicyGradient())
    assert torch.equal(found, want)
    assert metrics == {"learn/skipped_steps": 1.0, "learn/tokens": 0.0}


def test_epochs_and_minibatches_are_updates() -> None:
    """2 epochs × 2 minibatches are 4 updates over all rollouts twice; the first update's ratio is measured on it alone."""
    _, metrics = updated(rollouts(), PolicyGradient(), epochs=2, minibatches=2)
    assert metrics["grad_norm/policy"] > 0
    seen: list[int] = []

    @frozen
    class Counting:
        unit = "rollout"

        def terms(self, batch: LossBatch) -> LossTerms:
            seen.append(batch.num_rollouts)
            return LossTerms(term=torch.zeros(batch.num_rollouts, dtype=batch.logp_N.dtype) + 0 * batch.logp_N.sum())

    updated(rollouts(), Counting(), epochs=2, minibatches=2)
    assert seen == [2, 2, 2, 2]


@pytest.mark.parametrize("loss", [Pairwise(), Ranked()])
def test_pairs_stay_together_however_an_update_is_cut(loss: Any) -> None:
    """A loss over groups meets whole groups: one at a time, all at once, either order of groups and of members, the same update."""
    want, metrics = learnt_from(pairs(), loss, critic=True)
    turned = [evolve(group, members=group.members[::-1]) for group in reversed(pairs())]
    for groups, cut in [
        (pairs(), {"tokens_per_microbatch": 1}),
        (pairs(), {"logits_chunk": 2}),
        (turned, {}),
        (turned, {"tokens_per_microbatch": 1}),
    ]:
        found, other = learnt_from(groups, loss, critic=True, **cut)
        torch.testing.assert_close(found, want, rtol=1e-12, atol=1e-13)
        assert other == pytest.approx(metrics, rel=1e-9, nan_ok=True)


def test_a_group_counts_once() -> None:
    """The mean over groups of −log σ(Σ logp of the one − Σ logp of the other), written out."""
    policy = TinyModel.new()

    def total(rollout: Credited) -> torch.Tensor:
        logp = policy.logits(policy.hidden(pack.joined([rollout.tokens]))).log_softmax(-1)
        return sum(logp[t - 1, rollout.tokens[t]] for t in np.flatnonzero(rollout.policy_mask))

    (a, b), (c, d) = pairs()
    terms = [-torch.log(torch.sigmoid(total(x) - total(y))).item() for x, y in ((a, b), (d, c))]
    _, metrics = learnt_from(pairs(), Pairwise())
    assert metrics["losses/loss"] == pytest.approx(sum(terms) / 2, rel=1e-12)


def test_minibatches_are_of_whole_groups() -> None:
    """Two groups in two minibatches: two updates of one whole pair each, so every margin is of a chosen against a rejected one."""
    _, metrics = learnt_from(pairs(), Pairwise(), minibatches=2)
    assert metrics["learn/computed_rollouts"] == 1
    assert np.isfinite(metrics["loss/margin"])


def test_a_score_is_the_value_of_the_last_token() -> None:
    """Also where an observation follows the policy's last word; the values of policy tokens are as without scores."""
    seen: list[LossBatch] = []

    @frozen
    class Looking:
        unit = "rollout"
        needs = frozenset({"score"})

        def terms(self, batch: LossBatch) -> LossTerms:
            seen.append(batch)
            assert batch.score_R is not None
            return LossTerms(term=batch.score_R)

    updated(rollouts(), Looking(), critic=True)
    policy, critic = TinyModel.new(), TinyCritic()
    critic.start(policy, seed=1)
    want = {}
    for rollout in rollouts():
        alone = pack.joined([rollout.tokens])
        values = critic.values(alone, policy.hidden(alone))
        want[rollout.num_policy_tokens] = (values[-1], values[np.flatnonzero(rollout.policy_mask) - 1])
    [batch] = seen
    assert batch.score_R is not None
    assert batch.value_N is not None
    for index in range(4):
        own = batch.value_N[batch.rollout_N == index]
        score, values = want[len(own)]
        torch.testing.assert_close(batch.score_R[index], score, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(own, values, rtol=1e-12, atol=1e-12)


def states_of(rollout: Credited) -> torch.Tensor:
    """[L] the critic's value of the state after every token, of the rollout computed alone."""
    policy, critic = TinyModel.new(), TinyCritic()
    critic.start(policy, seed=1)
    alone = pack.joined([rollout.tokens])
    return critic.values(alone, policy.hidden(alone))


def test_the_score_of_a_turn_is_the_value_after_its_last_token() -> None:
    """Not the value before it, which has not seen how the turn ends; and where an observation follows, the value before that."""
    pieces = [("task", [1]), ("policy", [2, 3]), ("policy", [4, 5]), ("environment", [6]), ("policy", [7]), ("environment", [8])]
    given = [credited_rollout(pieces), *rollouts()]  # type: ignore[arg-type]
    seen: list[LossBatch] = []

    @frozen
    class Looking(Stepwise):
        def terms(self, batch: LossBatch) -> LossTerms:
            seen.append(batch)
            return super().terms(batch)

    updated(given, Looking(), critic=True)
    [batch] = seen
    assert batch.turn_score_S is not None
    assert batch.score_R is not None
    assert batch.value_N is not None
    assert batch.turn_end_S is not None
    expected = [(states_of(r), r) for r in given]
    ends = [(values, end) for values, r in expected for end in r.turn_ends]
    torch.testing.assert_close(batch.turn_score_S, torch.stack([v[end] for v, end in ends]), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(
        batch.value_N[batch.turn_end_S], torch.stack([v[end - 1] for v, end in ends]), rtol=1e-12, atol=1e-12
    )
    torch.testing.assert_close(batch.score_R, torch.stack([v[-1] for v, _ in expected]), rtol=1e-12, atol=1e-12)


def test_a_turn_counts_once() -> None:
    """Six turns in four rollouts: the mean over turns, whatever their lengths and the aggregation of tokens."""
    terms = [(states_of(r)[end] - r.returns[end]).item() ** 2 for r in rollouts() for end in r.turn_ends]  # type: ignore[index]
    assert len(terms) == 6
    for aggregation in ("token_mean", "sequence_mean"):
        _, metrics = updated(rollouts(), Stepwise(), critic=True, aggregation=aggregation)
        assert metrics["losses/loss"] == pytest.approx(sum(terms) / 6, rel=1e-12)


def test_no_log_prob_is_computed_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every loss says that it reads none, the head is not run; what stands in the batch instead is NaN."""
    monkeypatch.setattr(TinyModel, "logits", lambda *_: pytest.fail("the head was run"))
    parameters, metrics = learnt_from(pairs(), Ranked(), critic=True)
    assert torch.isfinite(parameters).all()
    assert not [name for name in metrics if name.startswith("policy/")]


@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean", "fixed_length"])
def test_what_a_loss_does_not_count_is_not_in_its_divisor(aggregation: str) -> None:
    """Cross entropy of the preferred alone, among others, is that of the preferred without the others."""
    how: dict[str, Any] = {"aggregation": aggregation, "fixed_length": 7 if aggregation == "fixed_length" else None}
    members = [r for group in pairs() for r in group]
    for unit in ("token", "turn", "rollout"):
        want, alone = updated([r for r in members if ChosenOnly().counts(r)], ChosenOnly(unit), **how)
        found, among = updated(members, ChosenOnly(unit), **how)
        torch.testing.assert_close(found, want, rtol=1e-12, atol=1e-13)
        assert among["losses/loss"] == pytest.approx(alone["losses/loss"], rel=1e-12)
    _, none = updated([r for r in members if not ChosenOnly().counts(r)], ChosenOnly(), **how)
    assert none["losses/loss"] == 0


def test_without_update_nothing_moves() -> None:
    """The losses are those of the first update, and no weight, gradient or counter changes."""
    policy, optimizer = TinyModel.new(), Sgd()
    learner = Learner(
        policy=policy, critic=None, losses=[Named(name="loss", part=Pairwise())], optimizer=optimizer,
        torch_optimizer=optimizer.build(policy.parameters(), []), settings=Learn(), temperature=1.0, seed=0, num_updates=1,
    )  # fmt: skip
    before = [p.detach().clone() for p in policy.parameters()]
    metrics = learner.without_update(pairs())
    assert metrics["losses/loss"] == pytest.approx(learnt_from(pairs(), Pairwise())[1]["losses/loss"])
    assert all(torch.equal(a, b) and b.grad is None for a, b in zip(before, policy.parameters(), strict=True))
    assert learner.update == 0
