"""A sound recipe in small: the same corridor and code path in seconds, without downloads, servers or a trained model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from jackfield.component import PART
from jackfield.corridor import Corridor
from jackfield.recipe.fields import recipe_keys
from jackfield.recipe.tree import Node, Origin, merge, plant

if TYPE_CHECKING:
    from jackfield.plugins import Plugins

STAND_IN = "smoke"
"""Name of the data and the corpus that take the place of the recipe's own."""
LARGEST: dict[str, Any] = {"steps": 2, "tasks_per_step": 2, "group_size": 4, "learn": {"minibatches": 2}}
"""Larger settings are lowered to these."""
INSTEAD: dict[str, Any] = {"evaluate": {"every": 0, "tasks": 2}, "checkpoint": {"every": 0}}


def in_small(tree: Node, plugins: Plugins) -> Node:
    """The tree with few steps on small groups of the stand-in's tasks, and tools that search the stand-in's passages."""
    origin = Origin("--smoke", tree.origin.folder)
    small = merge(_lowered(tree, LARGEST, origin), plant(INSTEAD, lambda _: origin))
    stand_in = plant({"use": STAND_IN}, lambda _: origin)
    tools = tree.value.get("tools", Node([], origin))
    searching = [_searching_stand_in(tool, plugins, origin) for tool in tools.value]
    return Node(small.value | {"data": stand_in, "tools": Node(searching, tools.origin)}, tree.origin)


def with_tiny_model(corridor: Corridor) -> Corridor:
    """The model as its own ``tiny()`` makes it: random weights, the same architecture."""
    return attrs.evolve(corridor, model=corridor.model.tiny())


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


def _searching_stand_in(tool: Node, plugins: Plugins, origin: Origin) -> Node:
    """A tool that searches passages gets the stand-in's, at its own defaults; other tools stay."""
    use = tool.value["use"] if tool.is_table else tool
    fields = recipe_keys(plugins.registries["tools"].find(use.value).load())
    corpus = [key for key, attribute in fields.items() if attribute.metadata.get(PART) == "corpora"]
    return Node({"use": use} | {key: Node(STAND_IN, origin) for key in corpus}, tool.origin) if corpus else tool
