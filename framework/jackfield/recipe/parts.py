"""The places of a recipe, and what could be built into them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from jackfield import settings
from jackfield.corridor import Corridor, Named
from jackfield.errors import Problem
from jackfield.recipe.tree import Node, Origin

if TYPE_CHECKING:
    from jackfield.registry import Entry

SETTINGS: dict[str, type] = {
    "sampling": settings.Sampling,
    "learn": settings.Learn,
    "evaluate": settings.Evaluate,
    "checkpoint": settings.Checkpoint,
}
TABLES = {
    "model": "models",
    "data": "data",
    "rollout": "environments",
    "engine": "engines",
    "critic": "critics",
    "advantage": "advantages",
    "optimizer": "optimizers",
}
"""Recipe table → kind of the one component it holds. All are required but [critic]; ``critic = false`` takes an inherited one away."""
LISTS = {
    "tools": "tools",
    "rewards": "rewards",
    "filters": "filters",
    "penalties": "penalties",
    "losses": "losses",
    "trackers": "trackers",
}
"""Recipe list → kind of its components."""
OWNED = {"weight": ("rewards", "losses"), "gate": ("rewards",)}
"""Keys that the core owns in a component's table → lists where it does. ``weight``: of a sum. ``gate``: where it scores 0 or less, the
other rewards do not count. Besides, any component with a key ``path`` may be given ``from`` in its stead: the recipe whose final
checkpoint gives it."""
PREAMBLE = ("requires", "plugins")
"""Top-level keys that are read before anything is built."""


@frozen(eq=False)
class Placed:
    """A component of the recipe and where it stands."""

    subject: str
    """Its path in the recipe, e.g. ``losses.0`` or ``tools.0.corpus``."""
    entry: Entry
    part: Any
    node: Node
    """Its table with every default filled in and ``use`` qualified."""
    weight: float = 1.0
    gate: bool = False

    @property
    def name(self) -> str:
        """What it is called, without its plugin."""
        return self.entry.qualified.rpartition(":")[2]

    def place(self, *keys: str) -> str:
        """The line of the first of ``keys`` that the recipe wrote, else of ``use``."""
        written = [self.node.value[key].origin for key in keys if key in self.node.value]
        return next((str(origin.place) for origin in written if not origin.is_default), str(self.node.value["use"].origin.place))


@define(eq=False)
class Parts:
    """What could be built of a recipe; where something is missing or incomplete, a problem says so."""

    origin: Origin
    """Of the recipe as a whole."""
    asked: dict[str, int] = field(factory=dict)
    """How many components the recipe has under a key, sound or not."""
    tree: dict[str, Node] = field(factory=dict)
    """Every key with its value, defaults filled in."""
    settings: dict[str, Any] = field(factory=dict)
    """``run`` and the tables of SETTINGS."""
    single: dict[str, Placed] = field(factory=dict)
    lists: dict[str, list[Placed]] = field(factory=dict)
    every: list[Placed] = field(factory=list)
    """All components, those held by other components too."""
    problems: list[Problem] = field(factory=list)

    def place(self, key: str, table: str | None = None) -> str:
        """The line that sets a core key, at the top level or in ``table``; the recipe's first line if it was left at its default."""
        node = (self.tree if table is None else self.tree[table].value).get(key)
        return self.origin.place if node is None or node.origin.is_default else str(node.origin.place)

    def asked_for(self, key: str) -> bool:
        """The recipe has this table, or an entry in this list, sound or not."""
        return self.asked.get(key, 0) > 0

    def complete(self, *keys: str) -> bool:
        """Everything that the recipe has under ``keys`` was built."""
        return all(
            self.asked.get(key, 0) == (len(self.lists.get(key, ())) if key in LISTS else int(key in self.single)) for key in keys
        )

    def corridor(self) -> Corridor:
        """Only if there are no problems."""
        lists: dict[str, Any] = {key: _named(entries) for key, entries in self.lists.items()}
        tables = {"environment" if key == "rollout" else key: placed.part for key, placed in self.single.items()}
        return Corridor(**self.settings, **lists, **{"critic": None} | tables)


def _named(entries: Sequence[Placed]) -> tuple[Named[Any], ...]:
    seen: Counter[str] = Counter()
    named = []
    for placed in entries:
        seen[placed.name] += 1
        name = placed.name if seen[placed.name] == 1 else f"{placed.name}#{seen[placed.name]}"
        named.append(Named(name=name, part=placed.part, weight=placed.weight, gate=placed.gate))
    return tuple(named)
