"""A recipe before its keys mean anything: values that know where they were written, and how two recipes lie over each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from jackfield.errors import Problem, nearest
from jackfield.recipe.positions import KeyPath
from jackfield.words import counted


@frozen
class Origin:
    """Where a value was written.

    Example: ``Origin("recipes/base.toml:8", Path("recipes"))``
    """

    place: str
    """``file:line``, ``--set`` or ``default``."""
    folder: Path
    """What relative paths are relative to."""

    @property
    def is_default(self) -> bool:
        return self.place == "default"

    @property
    def is_set(self) -> bool:
        """Whether the command line gave it."""
        return self.place == "--set"


@frozen(eq=False)
class Node:
    """A value of a recipe: a scalar, a ``dict[str, Node]`` or a ``list[Node]``."""

    value: Any
    origin: Origin

    @property
    def is_table(self) -> bool:
        return isinstance(self.value, dict)


def plant(value: Any, origin_of: Callable[[KeyPath], Origin], path: KeyPath = ()) -> Node:
    """What tomllib read, as a tree."""
    origin = origin_of(path)
    if isinstance(value, dict):
        return Node({key: plant(item, origin_of, (*path, key)) for key, item in value.items()}, origin)
    if isinstance(value, list | tuple):
        return Node([plant(item, origin_of, (*path, index)) for index, item in enumerate(value)], origin)
    return Node(value, origin)


def plain(node: Node) -> Any:
    """The tree as tomllib would have read it."""
    if isinstance(node.value, dict):
        return {key: plain(item) for key, item in node.value.items()}
    if isinstance(node.value, list):
        return [plain(item) for item in node.value]
    return node.value


def walk(node: Node, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Node]]:
    """Every scalar and every empty table or list, with its path."""
    items = node.value.items() if isinstance(node.value, dict) else enumerate(node.value) if isinstance(node.value, list) else ()
    if not items:
        yield path, node
    for key, item in items:
        yield from walk(item, (*path, key))


def merge(below: Node, above: Node, depth: int = 0) -> Node:
    """``above`` laid over ``below``, both ``depth`` keys below the root: the recipe's tables and components key by key, everything else
    replaced whole, be it a list or a table that is the value of a component's key (``tool_tags``). Where ``use`` changes, the
    component below had other keys: they are dropped."""
    if not (below.is_table and above.is_table) or _picks_another(below, above.value.get("use")):
        return above
    if depth > 1 and not {"use"} & (below.value.keys() | above.value.keys()):
        return above
    merged = dict(below.value)
    for key, node in above.value.items():
        merged[key] = merge(merged[key], node, depth + 1) if key in merged else node
    return Node(merged, above.origin)


def assign(tree: Node, keys: list[str], leaf: Node, subject: str = "") -> Node:
    """``tree`` with the value at ``keys`` replaced by ``leaf``; tables that are not there yet are made, and a name in the place of
    a component is written out as its table.

    Raises TargetError where a list has no such entry or a scalar stands in the way.
    """
    if not keys:
        return merge(tree, leaf, subject.count(".") + 1)
    key, rest = keys[0], keys[1:]
    here = f"{subject}.{key}" if subject else key
    if isinstance(tree.value, list):
        index = _index(tree.value, key, subject)
        replaced = [assign(item, rest, leaf, here) if number == index else item for number, item in enumerate(tree.value)]
        return Node(replaced, tree.origin)
    if isinstance(tree.value, str):
        tree = Node({"use": tree}, tree.origin)
    if not isinstance(tree.value, dict):
        raise TargetError(Problem(leaf.origin.place, here, f"no such key: {subject} is {tree.value!r}, not a table"))
    if key == "use" and not rest and _picks_another(tree, leaf):
        return Node({"use": leaf}, leaf.origin)
    child = tree.value.get(key)
    if child is None:
        child = Node({}, leaf.origin) if rest else leaf
    return Node(tree.value | {key: assign(child, rest, leaf, here)}, tree.origin)


class TargetError(Exception):
    """``--set`` names something that the recipe does not hold; carries the problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


def _index(items: list[Node], key: str, subject: str) -> int:
    valid = [str(index) for index in range(len(items))]
    if key in valid:
        return int(key)
    names = [item.value["use"].value for item in items if item.is_table and "use" in item.value]
    hint = nearest(key, [f"{subject}.{index}" for index in valid])
    if key in names:
        hint = f"; did you mean '{subject}.{names.index(key)}'?"
    count = counted(len(items), "entry", "entries")
    raise TargetError(Problem("--set", f"{subject}.{key}", f"{subject} is a list of {count}, counted from 0{hint}"))


def _picks_another(below: Node, use: Node | None) -> bool:
    return use is not None and "use" in below.value and below.value["use"].value != use.value
