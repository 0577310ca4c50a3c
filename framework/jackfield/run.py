"""A run: the loop over steps, with what holds it together (models, checkpoints, trackers, stopping)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, evolve

from jackfield import checkpoint, metrics, seeds
from jackfield.corridor import Corridor
from jackfield.errors import Interrupted, StopRun
from jackfield.evaluate import chosen_tasks, evaluate, evaluate_recorded
from jackfield.eventloop import RunAsync, one_loop
from jackfield.learn import Learner
from jackfield.machine import prepare_allocator
from jackfield.preflight import playable_tasks
from jackfield.report import RunInfo, StepReport
from jackfield.rollout import Players
from jackfield.run_folder import only_run_in, starting_checkpoint
from jackfield.stages import CRITIC, LanguageModel
from jackfield.step import Held, take_step
from jackfield.stopping import Stopping
from jackfield.task_order import draw
from jackfield.words import counted

if TYPE_CHECKING:
    from jackfield.plugins import Plugins
    from jackfield.recipe import Recipe
    from jackfield.types import Task


def load_for_sampling(corridor: Corridor, run_async: RunAsync) -> tuple[LanguageModel, Players]:
    """What rollouts and their judgement need: the policy, with the engine started, the tools by name, the reward sources."""
    prepare_allocator()
    for tool in corridor.tools:
        tool.part.prepare()
    policy = corridor.model.load()
    corridor.engine.start(policy, policy.tokenizer)
    for reward in corridor.rewards:
        if hasattr(reward.part, "prepare"):
            reward.part.prepare(policy.tokenizer)
    return policy, Players(
        environment=corridor.environment,
        engine=corridor.engine,
        tokenizer=policy.tokenizer,
        tools={tool.part.name: tool.part for tool in corridor.tools},
        run_seed=corridor.run.seed,
        run=run_async,
    )


def load(corridor: Corridor, run_async: RunAsync) -> Held:
    """Load or build everything the corridor needs: tools, policy, engine, reward sources, reference, critic, optimizer."""
    policy, players = load_for_sampling(corridor, run_async)
    needs = corridor.needs
    reference = policy.reference() if "ref_logp" in needs else None
    critic = corridor.critic if needs & CRITIC else None
    if critic is not None:
        critic.start(policy, seeds.derive(corridor.run.seed, "critic"))
    torch_optimizer = corridor.optimizer.build(policy.parameters(), critic.parameters() if critic is not None else [])
    learner = Learner(
        policy=policy,
        critic=critic,
        losses=corridor.losses,
        optimizer=corridor.optimizer,
        torch_optimizer=torch_optimizer,
        settings=corridor.learn,
        temperature=corridor.sampling.temperature,
        seed=corridor.run.seed,
        num_updates=corridor.run.steps * corridor.updates_per_step,
    )
    return Held(players=players, policy=policy, reference=reference, critic=critic, learner=learner)


def run(recipe: Recipe, plugins: Plugins, folder: Path, *, resume: bool = False) -> Path:
    """Run a recipe to its last step; gives the folder of the final checkpoint.

    Raises UserError where the folder holds another run, an unfinished one that is not to be resumed, or one under way.
    """
    corridor = recipe.corridor
    train, test = playable_tasks(corridor)
    with only_run_in(folder), one_loop(corridor.at_work) as run_async:
        first = starting_checkpoint(recipe, plugins, folder, resume=resume)
        recipe.write_frozen(folder)
        held = load(corridor, run_async)
        state = checkpoint.State(step=0, update=0, drawn=0)
        if first is not None:
            state = checkpoint.restore(first, held, corridor.stateful())
            corridor.engine.refresh(held.policy.policy_version)
        info = RunInfo(
            title=corridor.run.title,
            folder=folder,
            steps=corridor.run.steps,
            first_step=state.step,
            samples=corridor.engine.samples,
            frozen_recipe=recipe.frozen,
        )
        loop = Loop(corridor=corridor, held=held, plugins=plugins, info=info, train=train, test=test, state=state)
        with loop.reporting(), Stopping() as stopping:
            return loop.go(stopping)


@define(kw_only=True, eq=False)
class Loop:
    """The loop over steps and what it says."""

    corridor: Corridor
    held: Held
    plugins: Plugins
    info: RunInfo
    train: Sequence[Task]
    test: Sequence[Task]
    state: checkpoint.State

    def go(self, stopping: Stopping) -> Path:
        """Steps, evaluations and checkpoints until the last step or a request to stop.

        Whatever else ends it, the steps that are done are kept if the weights are still theirs.
        """
        try:
            return self._go(stopping)
        except StopRun as stop:
            raise Interrupted(self._stopped(str(stop), self._save())) from stop
        except BaseException:
            if self.state.step > self.info.first_step and self.held.learner.update == self.state.update:
                self._save()
            raise

    def _go(self, stopping: Stopping) -> Path:
        corridor, steps = self.corridor, self.corridor.run.steps
        every = corridor.evaluate.every
        if corridor.evaluate.before and self.state.step == 0 and steps:
            self._evaluate(stopping)
        while not self._ended:
            self._step()
            if stopping.asked:
                raise StopRun("interrupted")
            if every and self.state.step % every == 0 and not self._ended:
                self._evaluate(stopping)
            if corridor.checkpoint.every and self.state.step % corridor.checkpoint.every == 0:
                self._save()
        final = self._save()
        self._evaluate(stopping)
        return final

    @property
    def _ended(self) -> bool:
        return self.corridor.run.ends(self.state.step, self.state.sampled)

    def _stopped(self, why: str, saved: Path) -> str:
        step, steps = self.state.step, counted(self.corridor.run.steps, "step")
        if not self._ended:
            return f"{why}: {step} of {steps} done, checkpoint {saved}"
        missing = f"but not the last evaluation; jackfield eval {self.info.folder} makes one"
        return f"{why}: {counted(step, 'step')} done, checkpoint {saved}, {missing}"

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Trackers and observers are told of the start, and of the end whatever ends it."""
        error: BaseException | None = None
        started = []
        try:
            for tracker in self.corridor.trackers:
                tracker.part.start(self.info)
                started.append(tracker.part)
            self.plugins.tell("jackfield_run_start", run=self.info)
            yield
        except BaseException as ending:
            error = ending
            raise
        finally:
            for part in started:
                part.end(error)
            self.plugins.tell("jackfield_run_end", run=self.info, error=error)

    def _step(self) -> None:
        drawn = self.state.drawn

        def next_tasks(count: int) -> Sequence[Task]:
            nonlocal drawn
            drawn += count
            return draw(self.train, seed=self.corridor.run.seed, drawn=drawn - count, count=count)

        report = take_step(self.corridor, self.held, next_tasks, self.state.step, self._progress)
        self.corridor.after_step(report.metrics)
        remembered = {place: state for place, part in self.corridor.stateful().items() if (state := part.state())}
        self.state = checkpoint.State(
            step=self.state.step + 1,
            update=self.held.learner.update,
            drawn=drawn,
            sampled=self.state.sampled + (int(report.metrics["generate/tokens"]) if self.corridor.engine.samples else 0),
            components=remembered,
        )
        self._report(evolve(report, metrics={**report.metrics, **metrics.of_components(remembered)}))

    def _evaluate(self, stopping: Stopping) -> None:
        if not self.corridor.evaluate.enabled:
            return
        tasks, step = chosen_tasks(self.corridor, self.test), self.state.step
        with stopping.at_once():
            if self.corridor.engine.samples:
                report = evaluate(self.corridor, self.held.players, tasks, step=step, progress=self._progress)
            else:
                report = evaluate_recorded(self.corridor, self.held, tasks, step=step, progress=self._progress)
        self._report(report)

    def _report(self, report: StepReport) -> None:
        for tracker in self.corridor.trackers:
            tracker.part.step(report)
        self.plugins.tell("jackfield_step_end", run=self.info, report=report)

    def _progress(self, phase: str, done: int, total: int) -> None:
        for tracker in self.corridor.trackers:
            tracker.part.progress(phase, done, total)

    def _save(self) -> Path:
        return checkpoint.save(self.info.folder, self.held, self.state, keep=self.corridor.checkpoint.keep)
