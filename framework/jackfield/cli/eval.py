"""``jackfield eval RUN or RECIPE``: evaluate a checkpoint, or the model a recipe starts from, on the test split."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen

from jackfield.errors import Problem, UserError
from jackfield.recipe import find_recipe, load_recipe
from jackfield.recipe.read import show_path

if TYPE_CHECKING:
    from jackfield.overlap import Overlap
    from jackfield.plugins import Plugins
    from jackfield.recipe import Recipe
    from jackfield.report import StepReport
    from jackfield.result import Result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("what", help="a run folder (its newest checkpoint), or a recipe (the model it starts from)")
    parser.add_argument("--checkpoint", type=int, metavar="STEP", help="of a run: the checkpoint after so many steps")
    parser.add_argument("--model", metavar="PATH", help="the weights in this folder instead")
    parser.add_argument("--tasks", type=int, default=0, help="so many tasks of the test split; default all")
    parser.add_argument("--samples", type=int, default=1, metavar="N", help="so many samples of each task; default 1")
    parser.add_argument("--temperature", type=float, default=0.0, help="0, the default, is greedy; samples need one above 0")
    parser.add_argument("--k", metavar="K,K", help="k of pass@k; default 1, 2, 4 … up to the number of samples")
    parser.add_argument(
        "--overlap",
        choices=["refuse", "report", "ignore"],
        default="refuse",
        help="test questions that are training questions: stop (default), say so and go on, or don't look",
    )
    parser.add_argument("--against", metavar="RESULT", help="compare task by task with a result, or with that of another run")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="change a value of the recipe")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the result there (a run's is also kept in its folder, in evaluations/)"
    )


def run(args: argparse.Namespace, plugins: Plugins) -> int:
    """Evaluate, print, write; exit code 0."""
    from jackfield import result

    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    ks = _ks(args)
    against = result.find(Path(args.against), samples=args.samples, temperature=args.temperature) if args.against else None
    asked = _asked(args, plugins)
    found = _evaluate(args, asked)
    _print(found, ks)
    for path in filter(None, [args.json, asked.kept_in]):
        found.write(path, ks)
        print(f"result  {path}")
    if against is not None:
        _print_paired(against, found)
    return 0


@frozen(kw_only=True)
class _Asked:
    """What is to be evaluated."""

    recipe: Recipe
    trained: Recipe
    """As it was trained: without --set."""
    what: str
    step: int | None
    kept_in: Path | None


def _asked(args: argparse.Namespace, plugins: Plugins) -> _Asked:
    from jackfield import chain, checkpoint

    folder = Path(args.what)
    is_run = (folder / "recipe.toml").is_file()
    path = folder / "recipe.toml" if is_run else find_recipe(args.what)
    trained = load_recipe(path, plugins)
    recipe = load_recipe(path, plugins, [*args.set, f"evaluate.tasks={args.tasks}"])
    if not recipe.corridor.engine.samples:
        raise UserError(
            f"{show_path(path)}: its engine plays recordings, so it has nothing to sample; evaluate its model by another recipe"
            " (--model), or choose an engine (--set engine.use=torch)"
        )
    runs, given = Path("runs"), ("critic", "model") if args.model or is_run else ("critic",)
    weights = checkpoint.chosen(folder, args.checkpoint) if is_run and not args.model else None
    chain.require_playable(chain.missing(recipe, runs, without=given), runs)
    recipe = chain.ready(recipe, plugins, runs, print, without=given)
    if args.overlap != "ignore":
        trained = chain.with_training_rows(trained, runs)
    if args.model:
        changed = recipe.with_model_path(Path(args.model))
        return _Asked(recipe=changed, trained=trained, what=args.model, step=None, kept_in=None)
    if weights is not None:
        step = checkpoint.read_state(weights).step
        changed = recipe.with_model_path(weights / "model")
        return _Asked(recipe=changed, trained=trained, what=str(folder), step=step, kept_in=folder / _name(args, step, recipe))
    return _Asked(recipe=recipe, trained=trained, what=args.what, step=0, kept_in=None)


def _name(args: argparse.Namespace, step: int, recipe: Recipe) -> str:
    """Where a run keeps its result: another way of evaluating is another file."""
    how = "greedy" if args.temperature == 0 else f"t{args.temperature:g}x{args.samples}"
    parts = [f"step-{step:06d}", how, *([f"{args.tasks}tasks"] if args.tasks else []), *([recipe.digest[:8]] if args.set else [])]
    return f"evaluations/{'-'.join(parts)}.json"


def _ks(args: argparse.Namespace) -> list[int]:
    """The k of pass@k; none for a single sample unless asked for. UserError for settings that do not go together."""
    problems = []
    if args.samples < 1:
        problems.append(Problem("--samples", str(args.samples), "expected 1 or more"))
    if args.samples > 1 and args.temperature <= 0:
        problems.append(Problem("--samples", str(args.samples), "greedy samples are all alike; add --temperature 1.0"))
    try:
        ks = [int(k) for k in args.k.split(",")] if args.k else [2**n for n in range(args.samples.bit_length()) if args.samples > 1]
    except ValueError:
        ks, problems = [], [*problems, Problem("--k", args.k, "expected whole numbers with commas between, such as 1,8")]
    problems += [
        Problem("--k", str(k), f"expected 1 to {args.samples}, the number of samples") for k in ks if not 1 <= k <= args.samples
    ]
    if problems:
        raise UserError(problems)
    return sorted(set(ks))


def _evaluate(args: argparse.Namespace, asked: _Asked) -> Result:
    from jackfield import result
    from jackfield.evaluate import chosen_tasks, evaluate
    from jackfield.eventloop import one_loop
    from jackfield.overlap import overlap, training_tasks
    from jackfield.run import load_for_sampling

    corridor = asked.recipe.corridor
    tasks = chosen_tasks(corridor, corridor.data.tasks("test"))
    shared = None if args.overlap == "ignore" else overlap(tasks, training_tasks(asked.trained))
    if shared is not None:
        if args.overlap == "refuse":
            shared.require_none(show_path(asked.recipe.path))
        print(_said(shared))
    with one_loop(corridor.at_work) as run_async:
        _, players = load_for_sampling(corridor, run_async)
        report = evaluate(corridor, players, tasks, step=0, progress=_progress, temperature=args.temperature, samples=args.samples)
    sys.stderr.write("\n")
    return result.of_groups(
        report.groups,
        [reward.name for reward in corridor.rewards],
        what=asked.what,
        digest=asked.recipe.digest,
        step=asked.step,
        samples=args.samples,
        temperature=args.temperature,
        metrics=dict(report.metrics),
        extra=_about(args, asked, shared, report),
    )


def _about(args: argparse.Namespace, asked: _Asked, shared: Overlap | None, report: StepReport) -> dict[str, Any]:
    corridor = asked.recipe.corridor
    return {
        "title": corridor.run.title,
        "seed": corridor.run.seed,
        "changed": list(args.set),
        "seconds": dict(report.seconds),
        "overlap": None if shared is None else asdict(shared),
    }


def _said(shared: Overlap) -> str:
    if not shared.train:
        return "overlap with training: nothing was trained on"
    example = f", such as {shared.near[0].test} with {shared.near[0].train}" if shared.near else ""
    return (
        f"overlap with {shared.train} training questions: {len(shared.duplicates)} the same, "
        f"{len(shared.near)} with most of their 5-grams in one of them{example}"
    )


def _progress(phase: str, done: int, total: int) -> None:
    if done == total or done % 16 == 0:
        sys.stderr.write(f"\r{phase} {done}/{total}")
        sys.stderr.flush()


def _print(found: Result, ks: list[int]) -> None:
    from jackfield.figures import summary_rows, table

    table(summary_rows(found.summary(ks), found.samples))
    rest = {name.removeprefix("evaluation/"): value for name, value in found.metrics.items()}
    for name, value in sorted(rest.items()):
        if name.startswith(("rollout/", "verdicts/", "reward/")):
            print(f"{name:40} {value:.4f}".rstrip("0").rstrip("."))


def _print_paired(first: Result, second: Result) -> None:
    from jackfield.figures import paired_rows, table
    from jackfield.result import compared

    print(f"against {first.what}" + ("" if first.step is None else f", step {first.step}"))
    table(paired_rows(compared(first, second)))
