"""A sound recipe in small: the same corridor and code path in seconds, without downloads, servers or a trained model.

What ``--set`` says stands: a number stays as it is set, and data, a tool or a reward of which anything is set stays the recipe's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from jackfield.component import PART
from jackfield.recipe.fields import freeze, recipe_keys
from jackfield.recipe.tree import Node, Origin, plant, walk

if TYPE_CHECKING:
    from jackfield.plugins import Plugins
    from jackfield.recipe.parts import Parts

STAND_IN = "smoke"
"""Name of the data and the corpus that take the place of the recipe's own."""
LARGEST: dict[str, Any] = {"steps": 2, "tasks_per_step": 2, "group_size": 4, "learn": {"minibatches": 2}}
"""Larger settings are lowered to these."""
INSTEAD: dict[str, Any] = {"evaluate": {"every": 0, "tasks": 2}, "checkpoint": {"every": 0}}
"""Settings that become these, whatever they were."""
TURN = 48
"""What an environment's keys ``max_new_tokens…`` become where turns are sampled: a random model seldom ends one by itself. The stand-in's
recorded turns are that long, by bytes."""
BYTES_A_TOKEN = 8
"""An environment's other budgets (``max_tokens``, ``max_observation_tokens``), and those of recorded turns, grow by this: the tiny model's
tokens are bytes, and no usual vocabulary has more of them in a token on average."""


def in_small(tree: Node, plugins: Plugins) -> Node:
    """The tree with few steps on small groups, short turns, tasks that need no file or download (the data's own if they don't, else
    the stand-in's), tools that search the stand-in's passages, no gates, no rewards that need a server or a model of their own, and, where
    turns are sampled, one more reward, which varies (a random model would earn nothing from the others, and nothing would be learnt)."""
    origin = Origin("--smoke", tree.origin.folder)
    small = dict(_replaced(_lowered(tree, LARGEST, origin), INSTEAD, origin).value)
    if not _is_set(tree.value["data"]):
        small["data"] = _at_hand(tree, plugins, origin)
    sampled = _samples(tree, plugins)
    small["rollout"] = _with_budgets_in_bytes(tree.value["rollout"], plugins, origin, sampled=sampled)
    if tools := tree.value.get("tools"):
        searching = [tool if _is_set(tool) else _searching_stand_in(tool, plugins, origin) for tool in tools.value]
        small["tools"] = Node(searching, tools.origin)
    if (rewards := tree.value.get("rewards")) and rewards.value:
        kept = [reward for reward in rewards.value if _is_set(reward) or _needs_nothing(reward, plugins)]
        varied = [plant(STAND_IN, lambda _: origin)] if sampled or not kept else []
        small["rewards"] = Node([*(_open(reward, origin) for reward in kept), *varied], rewards.origin)
    return Node(small, tree.origin)


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


def _is_set(node: Node) -> bool:
    """Whether ``--set`` gave this value, or any in it."""
    return any(leaf.origin.is_set for _, leaf in walk(node))


def _lowered(tree: Node, largest: dict[str, Any], origin: Origin) -> Node:
    lowered = dict(tree.value)
    for key, limit in largest.items():
        if key not in lowered:
            continue
        if isinstance(limit, dict):
            lowered[key] = _lowered(lowered[key], limit, origin)
        elif lowered[key].value > limit and not _is_set(lowered[key]):
            lowered[key] = Node(limit, origin)
    return Node(lowered, tree.origin)


def _replaced(tree: Node, instead: dict[str, Any], origin: Origin) -> Node:
    replaced = dict(tree.value)
    for key, value in instead.items():
        if isinstance(value, dict):
            replaced[key] = _replaced(replaced.get(key, Node({}, origin)), value, origin)
        elif key not in replaced or not _is_set(replaced[key]):
            replaced[key] = Node(value, origin)
    return Node(replaced, tree.origin)


def _at_hand(tree: Node, plugins: Plugins, origin: Origin) -> Node:
    """The recipe's own data if it keeps itself, else the stand-in, whose recorded attempts the environment can play."""
    data: Node = tree.value["data"]
    if getattr(plugins.registries["data"].find(_use(data).value).load(), "self_contained", False):
        return data
    environment = plugins.registries["environments"].find(_use(tree.value["rollout"]).value).load()
    turns = {"turns": 1} if getattr(environment, "turn_limit", None) == 1 else {}
    return plant({"use": STAND_IN} | turns, lambda _: origin)


def _needs_nothing(reward: Node, plugins: Plugins) -> bool:
    """Rewards that ask a server or load a model of their own are left out, unless another recipe, small too, makes that model."""
    cls = plugins.registries["rewards"].find(_use(reward).value).load()
    holds_model = any(attribute.metadata.get(PART) == "models" for attribute in recipe_keys(cls).values())
    chained = reward.is_table and "from" in reward.value
    return chained or (getattr(cls, "self_contained", True) and not holds_model)


def _samples(tree: Node, plugins: Plugins) -> bool:
    """Whether the engine samples, or plays recordings, which are never cut."""
    engine = tree.value.get("engine")
    return engine is None or getattr(plugins.registries["engines"].find(_use(engine).value).load(), "samples", True)


def _open(reward: Node, origin: Origin) -> Node:
    """A gate that a random model never passes would shut the reward out that varies."""
    gated = reward.is_table and "gate" in reward.value and not _is_set(reward.value["gate"])
    return Node(reward.value | {"gate": Node(False, origin)}, reward.origin) if gated else reward


def _with_budgets_in_bytes(rollout: Node, plugins: Plugins, origin: Origin, *, sampled: bool) -> Node:
    given = rollout.value if rollout.is_table else {"use": rollout}
    budgets = dict(given)
    for key, attribute in recipe_keys(plugins.registries["environments"].find(given["use"].value).load()).items():
        tokens = given[key].value if key in given else attribute.default
        if not isinstance(tokens, int) or (key in given and _is_set(given[key])):
            continue
        if key.startswith("max_new_tokens"):
            budgets[key] = Node(TURN if sampled else max(TURN, BYTES_A_TOKEN * tokens), origin)
        elif key.startswith("max_") and key.endswith("tokens"):
            budgets[key] = Node(BYTES_A_TOKEN * tokens, origin)
    return Node(budgets, rollout.origin)


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
