"""What must hold between the parts of a recipe. Each refusal prints its arithmetic and the nearest valid values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jackfield.errors import PluginError, Problem, UserError, nearest
from jackfield.recipe.fields import INVALID, recipe_keys
from jackfield.recipe.parts import Parts, Placed
from jackfield.stages import CRITIC, NEEDS
from jackfield.words import counted

if TYPE_CHECKING:
    from jackfield.corridor import Corridor
    from jackfield.plugins import Plugins
    from jackfield.recipe.recipe import Recipe
    from jackfield.registry import Entry


def check(parts: Parts, plugins: Plugins) -> Iterator[Problem]:
    """Everything wrong between parts that are each sound on their own; what is missing is passed over."""
    yield from _smallest_group(parts)
    yield from _rewards(parts)
    yield from _needs(parts, plugins)
    yield from _trained_critic(parts, plugins)
    yield from _minibatches(parts)
    yield from _fixed_length(parts)
    yield from _token_budget(parts)
    yield from _tools(parts)
    yield from _something_to_learn(parts)


def check_components(parts: Parts, corridor: Corridor) -> Iterator[Problem]:
    """What components themselves find wrong with the recipe: those with a method ``check_recipe(corridor) -> list[str]``. A loss of
    weight 0 needs nothing, so it is not asked."""
    idle = [loss for loss in parts.lists["losses"] if loss.weight == 0]
    for placed in parts.every:
        if placed not in idle and hasattr(placed.part, "check_recipe"):
            for message in placed.part.check_recipe(corridor):
                yield Problem(placed.place(), placed.subject, message)


def check_observers(recipe: Recipe, plugins: Plugins) -> Iterator[Problem]:
    """What plugins that watch find wrong (hook ``jackfield_check``); each is asked, in the order of their names."""
    everyone = plugins.manager.get_plugins()
    for name, plugin in sorted(plugins.manager.list_name_plugin()):
        if plugin is None:
            continue
        try:
            plugins.manager.subset_hook_caller("jackfield_check", everyone - {plugin})(recipe=recipe)
        except UserError as error:
            for problem in error.problems:
                yield Problem(problem.place or f"plugin '{name}'", problem.subject, problem.message)


def _smallest_group(parts: Parts) -> Iterator[Problem]:
    run, advantage = parts.settings["run"], parts.single.get("advantage")
    if run is INVALID or advantage is None:
        return
    smallest = advantage.part.smallest_group
    if run.group_size < smallest:
        place = parts.place("group_size") if "group_size" in _written(parts) else advantage.place()
        found = f"{counted(run.group_size, 'rollout')} a task, but advantage '{advantage.name}' compares {smallest}"
        yield Problem(place, "group_size", f"{found} or more; write group_size = {smallest} or above")


def _rewards(parts: Parts) -> Iterator[Problem]:
    advantage = parts.single.get("advantage")
    if advantage is not None and advantage.part.uses_reward and not parts.asked_for("rewards"):
        message = f"advantage '{advantage.name}' learns from a reward, and the recipe names none; add [[rewards]] with `use = …`"
        yield Problem(advantage.place(), "rewards", message)


def _needs(parts: Parts, plugins: Plugins) -> Iterator[Problem]:
    asking = list(_asking(parts))
    for placed, needs in asking:
        for need in sorted(needs - NEEDS):
            message = f"'{placed.name}' needs '{need}', which nothing computes{nearest(need, NEEDS)}"
            yield Problem(placed.place(), placed.subject, message)
    advantage = parts.single.get("advantage")
    if advantage is not None and not advantage.part.gives_returns:
        giving = [entry.name for entry in plugins.registries["advantages"].entries if _says(entry, "gives_returns") is True]
        for placed, needs in asking:
            if "returns" in needs:
                message = f"'{placed.name}' needs returns, and advantage '{advantage.name}' gives none{nearest('', giving)}"
                yield Problem(placed.place(), placed.subject, message)
    wanting: dict[str, list[Placed]] = {}
    for placed, needs in asking:
        if needs & CRITIC:
            wanting.setdefault("a value of every token" if "value" in needs else "a score of every rollout", []).append(placed)
    if wanting and not parts.asked_for("critic"):
        first = next(iter(wanting.values()))[0]
        told = ", ".join(f"{_names(some)} {'needs' if len(some) == 1 else 'need'} {what}" for what, some in wanting.items())
        tables = _written_out("[critic]", plugins.registries["critics"].entries)
        if parts.complete("losses") and not any(placed in parts.lists["losses"] for some in wanting.values() for placed in some):
            tables += _written_out("[[losses]]", _training(plugins))
        yield Problem(first.place(), first.subject, f"{told}, and there is no critic; add{tables}")
    elif not wanting and parts.complete("advantage", "penalties", "losses") and (critic := parts.single.get("critic")):
        yield Problem(
            critic.place(), "critic", "no part of this recipe needs a value or score; remove [critic], or write critic = false"
        )


def _trained_critic(parts: Parts, plugins: Plugins) -> Iterator[Problem]:
    """A critic that is read must have learnt: from a loss of this recipe, or before."""
    critic = parts.single.get("critic")
    if critic is None or not parts.complete("advantage", "penalties", "losses"):
        return
    reading = [placed for placed, needs in _asking(parts) if needs & CRITIC]
    brings_weights = "from" in critic.node.value or getattr(critic.part, "path", None) is not None
    if not reading or brings_weights or any(placed in parts.lists["losses"] for placed in reading):
        return
    training = _training(plugins)
    remedy = f"add{_written_out('[[losses]]', training)}" if training else "add a loss that does"
    weights = "give [critic] trained weights by `from` or `path`" if "path" in recipe_keys(type(critic.part)) else ""
    either = f"{weights}, or " if weights else ""
    message = f"'{reading[0].name}' reads the critic's values, and no loss trains the critic; {either}{remedy}"
    yield Problem(critic.place(), "critic", message)


def _training(plugins: Plugins) -> list[Entry]:
    """The losses that compare a critic's values with returns, as far as their classes say."""
    said = [(entry, _says(entry, "needs")) for entry in plugins.registries["losses"].entries]
    return [entry for entry, needs in said if isinstance(needs, frozenset) and {"value", "returns"} <= needs]


def _says(entry: Entry, name: str) -> Any:
    """An attribute of a component's class."""
    try:
        return getattr(entry.load(), name, None)
    except PluginError:  # of no help to anybody
        return None


def _written_out(header: str, entries: Sequence[Entry]) -> str:
    """The lines that a recipe lacks, to be copied; the first component, with the names of others beside it."""
    first, *others = [f'use = "{entry.name}"' for entry in entries] or ["use = …"]
    also = f"  # or {' or '.join(others)}" if others else ""
    return f"\n\n    {header}\n    {first}{also}"


def _asking(parts: Parts) -> Iterator[tuple[Placed, frozenset[str]]]:
    """Who needs what; a loss of weight 0 needs nothing."""
    askers = [parts.single["advantage"]] if "advantage" in parts.single else []
    askers += parts.lists.get("penalties", []) + [loss for loss in parts.lists.get("losses", []) if loss.weight != 0]
    for placed in askers:
        yield placed, frozenset(getattr(placed.part, "needs", ()))


def _something_to_learn(parts: Parts) -> Iterator[Problem]:
    losses, run = parts.lists.get("losses", []), parts.settings["run"]
    if losses and run is not INVALID and run.steps and all(loss.weight == 0 for loss in losses):
        yield Problem(losses[0].place("weight"), "losses", "every loss has weight 0, so nothing is learnt; give one a weight")


def _minibatches(parts: Parts) -> Iterator[Problem]:
    run, learn = parts.settings["run"], parts.settings["learn"]
    if INVALID in (run, learn):
        return
    losses = parts.lists.get("losses", [])
    whole = next((loss for loss in losses if loss.weight != 0 and loss.part.unit == "group"), None)
    if whole is not None and learn.minibatches > run.tasks_per_step:
        message = (
            f"loss '{whole.name}' keeps groups whole, and {counted(run.tasks_per_step, 'group')} a step cannot fill {learn.minibatches} minibatches; "
            f"write minibatches = {run.tasks_per_step} or tasks_per_step = {learn.minibatches}"
        )
        yield Problem(parts.place("minibatches", "learn"), "learn.minibatches", message)
        return
    rollouts = run.tasks_per_step * run.group_size
    if learn.minibatches > rollouts:
        tasks, group = math.ceil(learn.minibatches / run.group_size), math.ceil(learn.minibatches / run.tasks_per_step)
        message = (
            f"tasks_per_step × group_size = {run.tasks_per_step} × {run.group_size} = {counted(rollouts, 'rollout')} a step cannot fill "
            f"{learn.minibatches} minibatches; write minibatches = {rollouts}, tasks_per_step = {tasks} or group_size = {group}"
        )
        yield Problem(parts.place("minibatches", "learn"), "learn.minibatches", message)


def _fixed_length(parts: Parts) -> Iterator[Problem]:
    learn = parts.settings["learn"]
    if learn is INVALID:
        return
    if learn.aggregation == "fixed_length" and learn.fixed_length is None:
        message = 'aggregation = "fixed_length" divides by this constant; write fixed_length = … (tokens)'
        yield Problem(parts.place("aggregation", "learn"), "learn.fixed_length", message)
    if learn.aggregation != "fixed_length" and learn.fixed_length is not None:
        message = f'is only used by aggregation = "fixed_length", and aggregation is "{learn.aggregation}"; remove it'
        yield Problem(parts.place("fixed_length", "learn"), "learn.fixed_length", message)
    elif learn.fixed_length is not None and learn.fixed_length < 1:
        yield Problem(parts.place("fixed_length", "learn"), "learn.fixed_length", f"must be at least 1, found {learn.fixed_length}")


def _token_budget(parts: Parts) -> Iterator[Problem]:
    run, engine = parts.settings["run"], parts.single.get("engine")
    if run is not INVALID and run.token_budget and engine is not None and not engine.part.samples:
        message = f"engine '{engine.name}' samples nothing, so this is never spent; remove it, steps says how long the run is"
        yield Problem(parts.place("token_budget"), "token_budget", message)


def _tools(parts: Parts) -> Iterator[Problem]:
    environment, tools = parts.single.get("rollout"), parts.lists.get("tools", [])
    first: dict[str, Placed] = {}
    for tool in tools:
        other = first.setdefault(tool.part.name, tool)
        if other is not tool:
            message = f"a second tool that is called '{tool.part.name}', like {other.subject}: no rollout could reach it"
            yield Problem(tool.place(), tool.subject, message)
    if environment is None or not parts.complete("tools"):
        return
    for name in getattr(environment.part, "requires_tools", ()):
        if name not in first:
            message = (
                f"'{environment.name}' calls a tool named '{name}', and the recipe has {_listed(first)}; add it under [[tools]]"
            )
            yield Problem(environment.place(), "tools", message)


def _names(placed: Sequence[Placed]) -> str:
    return " and ".join(f"'{one.name}'" for one in placed)


def _listed(names: dict[str, Placed]) -> str:
    return f"only {', '.join(repr(name) for name in names)}" if names else "no tool"


def _written(parts: Parts) -> set[str]:
    return {key for key, node in parts.tree.items() if not node.origin.is_default}
