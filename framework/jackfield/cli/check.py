"""``jackfield check RECIPE``: everything that can be said of a run before it starts. Loads no model, no data and no torch."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jackfield.cli.columns import columns
from jackfield.recipe import Recipe, find_recipe, load_recipe
from jackfield.recipe.fields import show
from jackfield.recipe.freeze import toml_value
from jackfield.recipe.parts import LISTS, SETTINGS, Placed
from jackfield.recipe.read import replaced_lists, show_path
from jackfield.recipe.tree import Node, plain
from jackfield.words import counted

if TYPE_CHECKING:
    from jackfield.plugins import Plugins

CORRIDOR = (
    "data",
    "model",
    "rollout",
    "engine",
    "tools",
    "rewards",
    "filters",
    "penalties",
    "critic",
    "advantage",
    "losses",
    "optimizer",
    "trackers",
)
"""Tables and lists of a recipe, in the order a step meets them."""
PASSES = {
    "old_logp": "the policy's log-probs before the step's first update",
    "ref_logp": "the reference's log-probs",
    "value": "the critic's values",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("recipe", metavar="RECIPE", help="a recipe file, or the name of one that comes with Jackfield (grpo_sums)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a key, e.g. losses.0.weight=0.1 (may repeat)"
    )


def run(args: argparse.Namespace, plugins: Plugins) -> int:
    """Print it; a recipe that is not sound raises RecipeError with every problem."""
    print("\n".join(describe(load_recipe(find_recipe(args.recipe), plugins, args.set))))
    return 0


def describe(recipe: Recipe) -> Iterator[str]:
    """The lines that ``check`` prints."""
    yield f"{recipe.corridor.run.title}  ({show_path(recipe.path)})"
    sections: dict[str, list[tuple[str, ...]]] = {
        "corridor": [row for key in CORRIDOR for row in _stage(recipe, key)],
        "lists not inherited": list(_replaced(recipe)),
        "settings": list(_settings(recipe)),
        "in memory": list(_memory(recipe)),
        "passes before learning": list(_passes(recipe)),
        "batch": [(line,) for line in _batch(recipe)],
        "evaluation": [(_evaluation(recipe),)],
        "weights": [(line,) for line in _chain(recipe)],
    }
    for heading, rows in sections.items():
        if rows:
            yield ""
            yield heading
            yield from columns(rows, indent=2)


def _stage(recipe: Recipe, key: str) -> Iterator[tuple[str, str, str]]:
    """One line a component: stage, component and its plugin, the keys that are not at their default."""
    placed = recipe.parts.lists[key] if key in LISTS else [recipe.parts.single[key]] if key in recipe.parts.single else []
    for one in placed:
        yield key, _called(one), ", ".join(_changed(one.node))
    if not placed and key in ("tools", "rewards"):
        yield key, "none", ""


def _called(placed: Placed) -> str:
    """``"credit:gae"``, with the distribution where it is not the one Jackfield came in."""
    entry = placed.entry
    return (
        entry.qualified
        if entry.distribution in (None, "jackfield")
        else f"{entry.qualified} [{entry.distribution} {entry.version}]"
    )


def _changed(table: Node, prefix: str = "") -> Iterator[str]:
    for key, node in table.value.items():
        if key == "use":
            if prefix and not node.origin.is_default:
                yield f"{prefix[:-1]} = {toml_value(node.value)}"
        elif node.is_table and "use" in node.value:
            yield from _changed(node, f"{prefix}{key}.")
        elif not node.origin.is_default:
            yield f"{prefix}{key} = {_short(node)}"


def _short(node: Node) -> str:
    """On one line that can be read: paths as short as they can be, long text cut."""
    value = plain(node)
    text = toml_value(show_path(Path(value)) if isinstance(value, str) and value.startswith(str(Path.cwd())) else value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _settings(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """Keys of the core's tables that are not at their default; the top-level ones are told under batch."""
    for key in SETTINGS:
        changed = ", ".join(_changed(recipe.parts.tree[key]))
        if changed:
            yield key, changed
    yield "seed", str(recipe.corridor.run.seed)


def _replaced(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """Where a list takes the place of the one of a recipe that this one extends."""
    for key, above, below in replaced_lists(recipe.path):
        if not recipe.parts.tree[key].origin.is_set:
            yield key, f"{above.origin.place} ({_uses(above)}) takes the place of {below.origin.place} ({_uses(below)})"


def _uses(components: Node) -> str:
    """As the file names them; nobody has checked those of a list that is replaced."""
    return ", ".join(show(item.value.get("use", item) if item.is_table else item) for item in components.value) or "none"


def _memory(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """What is held, and why."""
    corridor = recipe.corridor
    yield "policy", "with optimizer state"
    if "ref_logp" in corridor.needs:
        yield "reference", f"because {_askers(recipe, 'ref_logp')} ref_logp"
    if corridor.critic is not None:
        read = next(name for name in ("value", "score") if name in corridor.needs)
        yield "critic", f"with optimizer state, because {_askers(recipe, read)} {read}"
    if corridor.engine.holds:
        yield "engine", corridor.engine.holds
    for key, entries in (("tools", corridor.tools), ("rewards", corridor.rewards)):
        for entry in entries:
            if held := getattr(entry.part, "holds", ""):
                yield f"{key}.{entry.name}", held


def _askers(recipe: Recipe, need: str) -> str:
    parts = [part for part, needs in recipe.corridor.needs_by_part().items() if need in needs]
    return f"{' and '.join(parts)} {'needs' if len(parts) == 1 else 'need'}"


def _passes(recipe: Recipe) -> Iterator[tuple[str, str]]:
    corridor = recipe.corridor
    for name, meaning in PASSES.items():
        if name in corridor.measured:
            yield name, f"{meaning}: {_askers(recipe, name)} it"
        elif name in corridor.needs:
            yield name, "not computed: with one update a step, the learn pass has it already"


def _batch(recipe: Recipe) -> Iterator[str]:
    """tasks × group, epochs × minibatches, and what they come to over the run."""
    run, learn, updates = recipe.corridor.run, recipe.corridor.learn, recipe.corridor.updates_per_step
    rollouts = run.tasks_per_step * run.group_size
    even = rollouts % learn.minibatches == 0
    each = counted(rollouts // learn.minibatches, "rollout") if even else f"about {rollouts / learn.minibatches:.1f} rollouts"
    yield f"{counted(run.tasks_per_step, 'task')} × {counted(run.group_size, 'rollout')} each = {counted(rollouts, 'rollout')} a step"
    passes = f"{counted(learn.epochs, 'epoch')} × {counted(learn.minibatches, 'minibatch', 'minibatches')}"
    yield f"{passes} = {counted(updates, 'update')} a step, each of {each}"
    most = "at most " if run.token_budget else ""
    yield f"{most}{counted(run.steps, 'step')}: {counted(run.steps * rollouts, 'rollout')}, {counted(run.steps * updates, 'update')}"
    if run.token_budget:
        yield f"ends with the step in which {counted(run.token_budget, 'token')} have been sampled"


def _evaluation(recipe: Recipe) -> str:
    evaluate = recipe.corridor.evaluate
    if not evaluate.enabled:
        return "none"
    times = ["before the first step"] if evaluate.before else []
    times += [f"every {counted(evaluate.every, 'step')}"] if evaluate.every else []
    tasks = f"; {counted(evaluate.tasks, 'task')} within the run" if evaluate.tasks else ""
    how = "greedy, on the test split" if recipe.corridor.engine.samples else "the losses on recorded attempts of the test split"
    return f"{how}: {', '.join([*times, 'after the last'])}{tasks}"


def _chain(recipe: Recipe) -> Iterator[str]:
    """The recipes that run first, nearest first, and indented what each of them starts from."""
    takers: dict[str, list[str]] = {}
    for subject, parent in recipe.chained.items():
        takers.setdefault(parent.digest, []).append(subject)
    for parent in {parent.digest: parent for parent in recipe.chained.values()}.values():
        subjects, title = " and ".join(takers[parent.digest]), parent.corridor.run.title
        yield f"{subjects} from the final checkpoint of {show_path(parent.path)} ({title}); run first if its result is missing"
        yield from (f"  {line}" for line in _chain(parent))
