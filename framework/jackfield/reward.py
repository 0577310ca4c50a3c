"""Stage two: every rollout is judged by every reward source; failures stay failures."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Callable, Sequence

from jackfield.corridor import Named
from jackfield.errors import NothingScored, UserError
from jackfield.stages import Reward
from jackfield.types import Group, Rollout, Scored, Verdict, promote


def score(
    groups: Sequence[Group[Rollout]],
    rewards: Sequence[Named[Reward]],
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[Group[Scored]]:
    """The groups with verdicts. A rollout that failed is not judged and has no reward."""
    return asyncio.run(_score(groups, rewards, progress))


async def _score(
    groups: Sequence[Group[Rollout]], rewards: Sequence[Named[Reward]], progress: Callable[[int, int], None]
) -> list[Group[Scored]]:
    rollouts = [r for g in groups for r in g]
    done = 0

    async def one(rollout: Rollout) -> Scored:
        nonlocal done
        if rollout.finish.reason == "failed":
            scored = promote(Scored, rollout, verdicts={}, reward=None)
        else:
            verdicts = await asyncio.gather(*(_judge(r, rollout) for r in rewards))
            named = {r.name: v for r, v in zip(rewards, verdicts, strict=True)}
            scored = promote(Scored, rollout, verdicts=named, reward=total_reward(named, rewards))
        done += 1
        progress(done, len(rollouts))
        return scored

    scored = iter(await asyncio.gather(*(one(r) for r in rollouts)))
    return [Group(id=g.id, task=g.task, members=tuple(next(scored) for _ in g)) for g in groups]


async def _judge(reward: Named[Reward], rollout: Rollout) -> Verdict:
    try:
        verdict = reward.part.judge(rollout)
        if inspect.isawaitable(verdict):
            verdict = await verdict
    except UserError:  # something for the user to mend
        raise
    except Exception as error:  # a verifier may be anyone's code; one crash costs one verdict
        return Verdict.error(f"{type(error).__name__}: {error}")
    if not isinstance(verdict, Verdict):
        return Verdict.error(f"judge() gave {verdict!r} where a Verdict is expected; write Verdict.score({verdict!r})")
    return verdict


def require_some(groups: Sequence[Group[Scored]]) -> None:
    """Raises NothingScored, with the commonest reasons, if no rollout of the step has a reward."""
    rollouts = [r for g in groups for r in g]
    if any(r.reward is not None for r in rollouts):
        return
    reasons: Counter[str] = Counter()
    for rollout in rollouts:
        if rollout.finish.reason == "failed":
            reasons[f"the rollout failed: {rollout.finish.detail}"] += 1
        for name, verdict in rollout.verdicts.items():
            if verdict.kind != "score":
                reasons[f"{name} gave {verdict.kind}: {verdict.reason}"] += 1
    told = "; ".join(f"{reason} ({count}×)" for reason, count in reasons.most_common(3))
    raise NothingScored(f"none of the step's {len(rollouts)} rollouts could be scored: {told}")


def total_reward(verdicts: dict[str, Verdict], rewards: Sequence[Named[Reward]]) -> float | None:
    """The weighted sum of the scores. None if a source failed, or if there are sources and none applied; 0 if none is named.

    An abstention leaves only its own source out.
    """
    if any(v.kind == "error" for v in verdicts.values()):
        return None
    scores = [r.weight * verdicts[r.name].value for r in rewards if verdicts[r.name].kind == "score"]
    return sum(scores) if scores or not rewards else None
