"""Stage two: every rollout is judged by every reward source; failures stay failures."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jackfield.corridor import Named
from jackfield.errors import NothingScored, UserError
from jackfield.eventloop import RunAsync
from jackfield.stages import Reward
from jackfield.types import Group, Rollout, Scored, Verdict, promote


def score(
    groups: Sequence[Group[Rollout]],
    rewards: Sequence[Named[Reward]],
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    *,
    run: RunAsync = asyncio.run,
) -> list[Group[Scored]]:
    """The groups with verdicts. A rollout that failed is not judged and has no reward."""
    return run(_score(groups, rewards, progress))


async def _score(
    groups: Sequence[Group[Rollout]], rewards: Sequence[Named[Reward]], progress: Callable[[int, int], None]
) -> list[Group[Scored]]:
    judged = [r for g in groups for r in g if r.finish.reason != "failed"]
    done, total = 0, len(judged) * len(rewards)

    def tick(verdicts: int) -> None:
        nonlocal done
        done += verdicts
        progress(done, total)

    columns = await asyncio.gather(*(_verdicts(reward, judged, tick) for reward in rewards))
    found = {id(r): {n.name: c[i] for n, c in zip(rewards, columns, strict=True)} for i, r in enumerate(judged)}
    return [Group(id=g.id, task=g.task, members=tuple(_scored(r, found.get(id(r)), rewards) for r in g)) for g in groups]


def _scored(rollout: Rollout, verdicts: dict[str, Verdict] | None, rewards: Sequence[Named[Reward]]) -> Scored:
    if verdicts is None:
        return promote(Scored, rollout, verdicts={}, reward=None)
    total = total_reward(verdicts, rewards)
    turns = None if total is None else turn_rewards(verdicts, rewards)
    return promote(Scored, rollout, verdicts=verdicts, reward=total, turn_rewards=turns)


async def _verdicts(reward: Named[Reward], rollouts: Sequence[Rollout], tick: Callable[[int], None]) -> list[Verdict]:
    """One source's verdict of every rollout."""
    at_once = getattr(reward.part, "judge_all", None)
    if at_once is not None:
        verdicts = await _guarded(lambda: at_once(rollouts), len(rollouts))
        tick(len(rollouts))
        return verdicts

    async def one(rollout: Rollout) -> Verdict:
        [verdict] = await _guarded(lambda: reward.part.judge(rollout), None)
        tick(1)
        return verdict

    return list(await asyncio.gather(*(one(rollout) for rollout in rollouts)))


async def _guarded(call: Callable[[], Any], expected: int | None) -> list[Verdict]:
    """What a source says, ``expected`` verdicts or one: whatever else happens in it is an error verdict."""
    count = 1 if expected is None else expected
    try:
        given = call()
        if inspect.isawaitable(given):
            given = await given
    except UserError:  # something for the user to mend
        raise
    except Exception as error:  # a verifier may be anyone's code; one crash costs its verdicts, not the run
        return [Verdict.error(f"{type(error).__name__}: {error}")] * count
    if expected is None:
        return [_verdict(given)]
    if not isinstance(given, Sequence) or len(given) != expected:
        told = f"{len(given)} verdicts" if isinstance(given, Sequence) else repr(given)
        return [Verdict.error(f"judge_all() gave {told} for {expected} rollouts")] * count
    return [_verdict(verdict) for verdict in given]


def _verdict(given: object) -> Verdict:
    if isinstance(given, Verdict):
        return given
    return Verdict.error(f"judging gave {given!r} where a Verdict is expected; write Verdict.score({given!r})")


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


def total_reward(verdicts: Mapping[str, Verdict], rewards: Sequence[Named[Reward]]) -> float | None:
    """The weighted sum of the scores. None if a source failed, or if there are sources and none applied; 0 if none is named.

    An abstention leaves only its own source out. Where a gate scores 0 or less, only the gates are summed.
    """
    if any(v.kind == "error" for v in verdicts.values()):
        return None
    counted = _counted(verdicts, rewards)
    return sum(r.weight * verdicts[r.name].value for r in counted) if counted or not rewards else None


def turn_rewards(verdicts: Mapping[str, Verdict], rewards: Sequence[Named[Reward]]) -> tuple[float, ...] | None:
    """The weighted sum of what the sources gave to single turns; None if none did."""
    given = [(r.weight, verdicts[r.name].turns or ()) for r in _counted(verdicts, rewards) if verdicts[r.name].turns is not None]
    if not given:
        return None
    longest = max(len(turns) for _, turns in given)
    return tuple(sum(weight * turns[i] for weight, turns in given if i < len(turns)) for i in range(longest))


def _counted(verdicts: Mapping[str, Verdict], rewards: Sequence[Named[Reward]]) -> list[Named[Reward]]:
    scoring = [r for r in rewards if verdicts[r.name].kind == "score"]
    shut = any(r.gate and verdicts[r.name].value <= 0 for r in scoring)
    return [r for r in scoring if r.gate] if shut else scoring
