"""One training step from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from jackfield import metrics, rollout
from jackfield.corridor import Corridor
from jackfield.learn import Learner
from jackfield.measure import measure
from jackfield.report import StepReport
from jackfield.reward import require_some, score
from jackfield.stages import Critic, LanguageModel, Tokenizer, Tool
from jackfield.types import Credited, Group, Scored, Task

Progress = Callable[[str, int, int], None]


@frozen(kw_only=True, eq=False)
class Held:
    """What a run keeps in memory: only what some part needs."""

    tokenizer: Tokenizer
    tools: Mapping[str, Tool]
    policy: LanguageModel
    reference: LanguageModel | None
    critic: Critic | None
    learner: Learner


def take_step(corridor: Corridor, held: Held, tasks: Sequence[Task], step: int, progress: Progress) -> StepReport:
    """Play, judge, measure, credit, learn; gives what there is to report."""
    phase = metrics.Phases()

    with phase("generate"):
        played = rollout.play(
            tasks,
            step=step,
            group_size=corridor.run.group_size,
            environment=corridor.environment,
            engine=corridor.engine,
            tokenizer=held.tokenizer,
            tools=held.tools,
            run_seed=corridor.run.seed,
            temperature=corridor.sampling.temperature,
            progress=lambda done, total: progress("generate", done, total),
        )
    with phase("score"):
        scored = score(played, corridor.rewards, lambda done, total: progress("score", done, total))
        require_some(scored)
        kept = scorable(scored, corridor.advantage.smallest_group)
    with phase("measure"):
        measured = measure(
            kept,
            needs=corridor.measured,
            policy=held.policy,
            reference=held.reference,
            critic=held.critic,
            penalties=corridor.penalties,
            temperature=corridor.sampling.temperature,
            settings=corridor.learn,
            progress=lambda done, total: progress("measure", done, total),
        )
    credited = corridor.advantage.credit(measured)
    with phase("learn"):
        learned = held.learner.learn(credited, step=step, progress=lambda done, total: progress("learn", done, total))
        corridor.engine.refresh(held.policy.policy_version)

    seconds = phase.close()
    written = sum(r.num_policy_tokens for g in played for r in g)
    tokens = {"generate": written, "score": written, "learn": learned["learn/tokens"]}
    if corridor.measured:
        tokens["measure"] = metrics.num_tokens(r for g in credited for r in g)
    return StepReport(
        kind="step",
        step=step + 1,
        metrics={
            **metrics.of_rollouts(scored),
            **metrics.of_groups(scored, kept),
            **metrics.of_credit(credited),
            **learned,
            **metrics.speeds(seconds, tokens),
        },
        seconds=seconds,
        groups=with_credit(scored, credited),
    )


def scorable(groups: Sequence[Group[Scored]], smallest_group: int) -> list[Group[Scored]]:
    """The groups without members that have no reward (a failed rollout or verifier), and without groups left too small by that."""
    kept = [Group(id=g.id, task=g.task, members=tuple(r for r in g if r.reward is not None)) for g in groups]
    return [g for g in kept if len(g) >= max(smallest_group, 1)]


def with_credit(scored: Sequence[Group[Scored]], credited: Sequence[Group[Credited]]) -> list[Group[Scored]]:
    """All groups for reporting, every rollout in the furthest state it reached."""
    reached = {(g.id, r.member): r for g in credited for r in g}
    return [Group(id=g.id, task=g.task, members=tuple(reached.get((g.id, r.member), r) for r in g)) for g in scored]
