"""A sound recipe in small: the same corridor and code path in seconds, without downloads, servers or a trained model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from jackfield.component import PART
from jackfield.recipe.fields import freeze, recipe_keys
from jackfield.recipe.tree import Node, Origin, merge, plant

if TYPE_CHECKING:
    from jackfield.plugins import Plugins
    from jackfield.recipe.parts import Parts

STAND_IN = "smoke"
"""Name of the data and the corpus that take the place of the recipe's own."""
LARGEST: dict[str, Any] = {"steps": 2, "tasks_per_step": 2, "group_size": 4, "learn": {"minibatches": 2}}
"""Larger settings are lowered to these."""
TURN = 48
"""Tokens: a random model seldom ends a turn by itself, and the stand-in's recorded turns are that long, by bytes. What an environment's
keys ``max_new_tokens…`` say becomes this."""
INSTEAD: dict[str, Any] = {"evaluate": {"every": 0, "tasks": 2}, "checkpoint": {"every": 0}}


def in_small(tree: Node, plugins: Plugins) -> Node:
    """The tree with few steps on small groups, short turns, tasks that need no file or download (the data's own if they don't, else
    the stand-in's), tools that search the stand-in's passages, no rewards that need a server or a model of their own, and one more
    reward, which varies (a random model would earn nothing from the others, and nothing would be learnt)."""
    origin = Origin("--smoke", tree.origin.folder)
    small = merge(_lowered(tree, LARGEST, origin), plant(INSTEAD, lambda _: origin))
    data = _at_hand(tree.value["data"], plugins, origin)
    rollout = _with_turns_of_one_length(tree.value["rollout"], plugins, origin)
    tools = tree.value.get("tools", Node([], origin))
    searching = [_searching_stand_in(tool, plugins, origin) for tool in tools.value]
    rewards = tree.value.get("rewards", Node([], origin))
    kept = [reward for reward in rewards.value if _needs_nothing(reward, plugins)]
    varied = Node([*kept, plant(STAND_IN, lambda _: origin)], rewards.origin) if rewards.value else rewards
    return Node(
        small.value | {"rewards": varied, "data": data, "rollout": rollout, "tools": Node(searching, tools.origin)}, tree.origin
    )


def put_tiny_model(parts: Parts, plugins: Plugins) -> None:
    """The model becomes what its own ``tiny()`` makes, random weights of the same architecture, in the frozen recipe too."""
    placed = parts.single["model"]
    tiny = placed.part.tiny()
    target = f"{type(tiny).__module__}:{type(tiny).__qualname__}"
    entry = next(entry for entry in plugins.registries["models"].entries if entry.target == target)
    keys = {key: getattr(tiny, attribute.name) for key, attribute in recipe_keys(type(tiny)).items()}
    origin = Origin("--smoke", parts.origin.folder)
    node = freeze({"use": entry.qualified} | {key: value for key, value in keys.items() if value is not None}, origin)
    parts.single["model"] = attrs.evolve(placed, entry=entry, part=tiny, node=node)
    parts.every[parts.every.index(placed)] = parts.single["model"]
    parts.tree["model"] = node


def _lowered(tree: Node, largest: dict[str, Any], origin: Origin) -> Node:
    lowered = dict(tree.value)
    for key, limit in largest.items():
        if key not in lowered:
            continue
        if isinstance(limit, dict):
            lowered[key] = _lowered(lowered[key], limit, origin)
        elif lowered[key].value > limit:
            lowered[key] = Node(limit, origin)
    return Node(lowered, tree.origin)


def _at_hand(data: Node, plugins: Plugins, origin: Origin) -> Node:
    """The recipe's own data if it keeps itself, else the stand-in."""
    own = plugins.registries["data"].find(_use(data).value).load()
    return data if getattr(own, "self_contained", False) else plant({"use": STAND_IN}, lambda _: origin)


def _needs_nothing(reward: Node, plugins: Plugins) -> bool:
    """Rewards that ask a server or load a model of their own are left out, unless another recipe, small too, makes that model."""
    cls = plugins.registries["rewards"].find(_use(reward).value).load()
    holds_model = any(attribute.metadata.get(PART) == "models" for attribute in recipe_keys(cls).values())
    chained = reward.is_table and "from" in reward.value
    return chained or (getattr(cls, "self_contained", True) and not holds_model)


def _with_turns_of_one_length(rollout: Node, plugins: Plugins, origin: Origin) -> Node:
    given = rollout.value if rollout.is_table else {"use": rollout}
    short = dict(given)
    for key, attribute in recipe_keys(plugins.registries["environments"].find(given["use"].value).load()).items():
        tokens = given[key].value if key in given else attribute.default
        if key.startswith("max_new_tokens") and isinstance(tokens, int):
            short[key] = Node(TURN, origin)
    return Node(short, rollout.origin)


def _use(component: Node) -> Node:
    """The name of a component, written as a table or as its name alone."""
    use: Node = component.value["use"] if component.is_table else component
    return use


def _searching_stand_in(tool: Node, plugins: Plugins, origin: Origin) -> Node:
    """A tool that searches passages gets the stand-in's, at its own defaults; other tools stay."""
    use = _use(tool)
    fields = recipe_keys(plugins.registries["tools"].find(use.value).load())
    corpus = [key for key, attribute in fields.items() if attribute.metadata.get(PART) == "corpora"]
    return Node({"use": use} | {key: Node(STAND_IN, origin) for key in corpus}, tool.origin) if corpus else tool
