"""One training step from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from jackfield import metrics, rollout
from jackfield.corridor import Corridor, Named
from jackfield.learn import Learner
from jackfield.measure import measure
from jackfield.report import StepReport
from jackfield.reward import require_some, score
from jackfield.stages import Critic, Filter, LanguageModel
from jackfield.types import Credited, Group, Scored, Task

Progress = Callable[[str, int, int], None]


@frozen(kw_only=True, eq=False)
class Held:
    """What a run keeps in memory: only what some part needs."""

    players: rollout.Players
    policy: LanguageModel
    reference: LanguageModel | None
    critic: Critic | None
    learner: Learner


def take_step(corridor: Corridor, held: Held, draw: Callable[[int], Sequence[Task]], step: int, progress: Progress) -> StepReport:
    """Play, judge, measure, credit, learn; gives what there is to report.

    ``draw`` gives the next so many tasks; ``step`` counts the steps done before this one.
    """
    phase = metrics.Phases()
    scored: list[Group[Scored]] = []  # all that was played, for the report
    kept: list[Group[Scored]] = []  # what is learnt from; where filters leave nothing, the step makes no update
    for _ in range(1 + corridor.run.refill_rounds):
        tasks = draw(corridor.run.tasks_per_step - len(kept))
        with phase("generate"):
            played = rollout.play(
                held.players,
                tasks,
                step=step,
                group_size=corridor.run.group_size,
                temperature=corridor.sampling.temperature,
                earlier=scored,  # so that a task that comes up again in the step draws other rollouts
                progress=lambda done, total: progress("generate", done, total),
            )
        with phase("score"):
            judged = score(played, corridor.rewards, lambda done, total: progress("score", done, total), run=held.players.run)
            scored += judged
            require_some(scored)  # a verifier that is down ends the run instead of teaching nothing for hours
            kept += scorable(judged, corridor.advantage.smallest_group, corridor.filters)
        if len(kept) >= corridor.run.tasks_per_step:
            break
    credited = assign_credit(corridor, held, kept, phase, progress)
    with phase("learn"):
        learned = held.learner.learn(credited, step=step, progress=lambda done, total: progress("learn", done, total))
        corridor.engine.refresh(held.policy.policy_version)  # part of the update's cost: the sampler takes over the new weights

    seconds = phase.close()
    written = sum(r.num_policy_tokens for g in scored for r in g)
    tokens = {"generate": written, "score": written, "learn": learned["learn/tokens"]}
    if corridor.measured:  # what passes before learning are needed for; none, and measuring takes no time
        tokens["measure"] = metrics.num_tokens(r for g in kept for r in g)
    return StepReport(
        kind="step",
        step=step + 1,
        metrics={
            **metrics.of_rollouts(scored),
            **metrics.of_groups(scored, kept),
            **learned,
            **metrics.of_credit(credited),
            "generate/tokens": written,
            **metrics.speeds(seconds, tokens),
            **metrics.memory(),
        },
        seconds=seconds,
        groups=with_credit(scored, credited),
    )


def assign_credit(
    corridor: Corridor, held: Held, groups: Sequence[Group[Scored]], phase: metrics.Phases, progress: Progress
) -> list[Group[Credited]]:
    """Measure what chosen parts need (penalties are subtracted there: they need the log-probs), and let the advantage estimator say who
    earned what."""
    with phase("measure"):
        measured = measure(
            groups,
            needs=corridor.measured,
            policy=held.policy,
            reference=held.reference,
            critic=held.critic,
            penalties=corridor.penalties,
            temperature=corridor.sampling.temperature,
            settings=corridor.learn,
            progress=lambda done, total: progress("measure", done, total),
        )
    return corridor.advantage.credit(measured)


def scorable(groups: Sequence[Group[Scored]], smallest_group: int, filters: Sequence[Named[Filter]] = ()) -> list[Group[Scored]]:
    """The groups without members that have no reward (a failed rollout or verifier) or that a filter leaves out, and without groups
    left too small by that. No filter is given an empty group."""
    kept = [Group(id=g.id, task=g.task, members=tuple(r for r in g if r.reward is not None)) for g in groups]
    for named in filters:
        kept = named.part.keep([g for g in kept if len(g)])
    return [g for g in kept if len(g) >= max(smallest_group, 1)]


def with_credit(scored: Sequence[Group[Scored]], credited: Sequence[Group[Credited]]) -> list[Group[Scored]]:
    """All groups for reporting, every rollout in the furthest state it reached."""
    reached = {(g.id, r.member): r for g in credited for r in g}
    return [Group(id=g.id, task=g.task, members=tuple(reached.get((g.id, r.member), r) for r in g)) for g in scored]
