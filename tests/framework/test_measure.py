"""The passes before learning give what was asked, at the policy's tokens, and place rewards where credit can find them."""

from __future__ import annotations

import numpy as np
from attrs import evolve, frozen

from jackfield import pack
from jackfield.corridor import Named
from jackfield.measure import measure, placed_reward
from jackfield.settings import Learn
from jackfield.testing.tiny_model import TinyCritic, TinyModel, credited_rollout
from jackfield.types import FloatArray, Group, Measured, Scored, promote

PIECES = [
    [("task", [1, 2, 3]), ("policy", [4, 5, 6]), ("environment", [7, 8]), ("policy", [9, 0]), ("environment", [3, 3])],
    [("task", [1, 2]), ("policy", [10, 11, 0])],
]


def scored() -> list[Group[Scored]]:
    rollouts = [credited_rollout(p, seed=i) for i, p in enumerate(PIECES)]  # type: ignore[arg-type]
    plain = [
        Scored(
            task=r.task, member=0, segments=r.segments, finish=r.finish, counters=r.counters, verdicts=r.verdicts, reward=r.reward
        )
        for r in rollouts
    ]
    return [Group(id=str(i), task=r.task, members=(r,)) for i, r in enumerate(plain)]


def measured(needs: set[str], **how: object) -> list[Measured]:
    policy = TinyModel.new(seed=3)
    reference = TinyModel.new(seed=4).reference() if "ref_logp" in needs else None
    critic = TinyCritic() if "value" in needs else None
    if critic is not None:
        critic.start(policy, 5)
    options = {"penalties": (), "temperature": 1.0, "settings": Learn(tokens_per_microbatch=4), **how}
    groups = measure(scored(), needs=needs, policy=policy, reference=reference, critic=critic, **options)  # type: ignore[arg-type]
    return [r for g in groups for r in g]


def test_log_probs_are_those_of_a_full_forward_pass() -> None:
    """old_logp and ref_logp against log_softmax over the whole sequence; NaN where the policy did not write."""
    together, alone = measured({"old_logp", "ref_logp", "value"}), measured({"ref_logp"})
    for found, name, seed in [*((r, "old_logp", 3) for r in together), *((r, "ref_logp", 4) for r in [*together, *alone])]:
        model = TinyModel.new(seed=seed)
        logp = model.logits(model.hidden(pack.joined([found.tokens]))).log_softmax(-1)
        want = np.full(len(found.tokens), np.nan)
        for t in np.flatnonzero(found.policy_mask):
            want[t] = logp[t - 1, found.tokens[t]].item()
        np.testing.assert_allclose(getattr(found, name), want, rtol=1e-12)


def test_values_stand_before_each_token_and_after_the_last() -> None:
    """value[t] is the critic's at the state before token t; bootstrap_value after the last token of all."""
    critic = TinyCritic()
    policy = TinyModel.new(seed=3)
    critic.start(policy, 5)
    assert critic.head is not None
    for found in measured({"value"}):
        values = critic.head(policy.hidden(pack.joined([found.tokens]))).squeeze(-1)
        for t in np.flatnonzero(found.policy_mask):
            np.testing.assert_allclose(found.value[t], values[t - 1].item(), rtol=1e-12)
        np.testing.assert_allclose(found.bootstrap_value, values[-1].item(), rtol=1e-12)


def test_only_what_is_needed_is_measured() -> None:
    """Nothing asked for: no model runs, nothing is held."""
    for found in measured(set()):
        assert found.old_logp is None
        assert found.ref_logp is None
        assert found.value is None


def test_the_outcome_sits_on_the_last_policy_token() -> None:
    """A11, pitfall 7: wherever observations follow, the masked sum of rewards is the score."""
    for rollout in (r for g in scored() for r in g):
        reward = placed_reward(rollout)
        assert np.flatnonzero(reward).tolist() == [np.flatnonzero(rollout.policy_mask)[-1]]
        assert reward[rollout.policy_mask].sum() == 1.0


def test_rewards_of_turns_sit_on_their_turns() -> None:
    """Each on the last token of its turn, the rest of the reward at the end; a turn without tokens leaves its part to the end, and the
    sum is the reward. A rollout that starts with a turn of one token has nothing to train there."""
    pieces = [("task", [1]), ("policy", [2, 3]), ("environment", [4]), ("policy", []), ("policy", [5]), ("environment", [6, 7])]
    rollout = evolve(credited_rollout(pieces), reward=2.0, turn_rewards=(0.5, 0.25, 1.0))  # type: ignore[arg-type]
    assert placed_reward(rollout).tolist() == [0, 0, 0.5, 0, 1.5, 0, 0]
    first = evolve(credited_rollout([("policy", [2]), ("policy", [3])]), reward=2.0, turn_rewards=(0.5, 0.0))
    assert placed_reward(first).tolist() == [0, 2.0]


def test_penalties_are_subtracted_from_policy_tokens_only() -> None:
    """A penalty that is NaN elsewhere leaves those rewards 0."""

    @frozen
    class Half:
        needs = frozenset({"old_logp"})

        def penalty(self, rollout: Measured) -> FloatArray:
            assert rollout.old_logp is not None
            return 0.5 * rollout.old_logp

    for found in measured({"old_logp"}, penalties=[Named(name="half", part=Half())]):
        assert found.old_logp is not None
        want = placed_reward(found) - np.where(found.policy_mask, 0.5 * np.nan_to_num(found.old_logp), 0.0)
        np.testing.assert_allclose(found.token_reward, want, rtol=1e-12)


def test_promote_keeps_what_was_there() -> None:
    """The next stage's type has all fields of the last."""
    rollout = scored()[0].members[0]
    promoted = promote(Measured, rollout, token_reward=np.zeros(len(rollout.tokens)))
    assert promoted.segments is rollout.segments
    assert promoted.verdicts is rollout.verdicts
