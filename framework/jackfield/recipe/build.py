"""From a recipe's tree to settings and components: names looked up, keys typed, every problem kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import attrs
from attrs import define, field

from jackfield import settings
from jackfield.component import HELP, PART
from jackfield.errors import PluginError, Problem, UserError, closest, nearest
from jackfield.recipe.contract import misfits
from jackfield.recipe.fields import INVALID, annotation, convert, default_node, freeze, recipe_keys
from jackfield.recipe.hints import Hints
from jackfield.recipe.parts import LISTS, OWNED, PREAMBLE, SETTINGS, TABLES, Parts, Placed
from jackfield.recipe.tree import Node, Origin

if TYPE_CHECKING:
    from jackfield.plugins import Plugins
    from jackfield.registry import Entry


def build(tree: Node, plugins: Plugins, *, all_plugins: bool = True) -> Parts:
    """Everything the tree asks for, as far as it is sound. ``all_plugins``: those that the recipe names are there, so that a name
    nobody offers is a mistake of its own."""
    parts = Parts(tree.origin)
    builder = _Builder(plugins, parts, Hints(tree, plugins), all_plugins)
    top = {key: node for key, node in tree.value.items() if key not in {*SETTINGS, *TABLES, *LISTS, *PREAMBLE}}
    parts.settings["run"] = builder.settings(
        settings.Run, Node(top, tree.origin), "", (*SETTINGS, *TABLES, *LISTS, *PREAMBLE, "extends")
    )
    parts.tree |= {key: tree.value[key] for key in PREAMBLE if key in tree.value}
    for key, cls in SETTINGS.items():
        parts.settings[key] = builder.settings(cls, tree.value.get(key, Node({}, Origin("default", tree.origin.folder))), key)
    for key, kind in TABLES.items():
        builder.table(key, kind, tree)
    for key, kind in LISTS.items():
        builder.list(key, kind, tree)
    if parts.asked.get("losses") == 0:
        choices = nearest("", (entry.name for entry in plugins.registries["losses"].entries))
        builder.missing(parts.place("losses"), "losses", f"required: at least one [[losses]] with `use = …`{choices}")
    builder.tell_once()
    return parts


@define(eq=False)
class _Builder:
    plugins: Plugins
    parts: Parts
    hints: Hints
    all_plugins: bool
    meant: set[str] = field(init=False, factory=set)
    """Dotted places that unknown keys were meant for."""
    lacking: set[Problem] = field(init=False, factory=set)
    """Problems that say that something is not there, which an unknown key may have been meant for."""
    following: set[Problem] = field(init=False, factory=set)
    """Problems that another one has for certain led to."""

    def tell_once(self) -> None:
        """Leave out what only repeats another problem; ``[modle]`` is no second mistake of a recipe without [model]."""
        for key in self.meant & {*TABLES, *LISTS}:
            self.parts.asked[key] = self.parts.asked.get(key, 0) or 1  # so that nobody misses it
        repeated = {problem for problem in self.lacking if self.meant & {problem.subject, problem.subject.partition(".")[0]}}
        self.parts.problems = [problem for problem in self.parts.problems if problem not in repeated | self.following]

    def missing(self, place: str, subject: str, message: str) -> None:
        """A problem, unless an unknown key was meant for it."""
        self.parts.problems.append(Problem(place, subject, message))
        self.lacking.add(self.parts.problems[-1])

    def settings(self, cls: type, node: Node, subject: str, other_keys: Sequence[str] = ()) -> Any:
        """An object of ``cls`` with the keys of ``node``; INVALID if it could not be built."""
        if not node.is_table:
            return self._wrong(node.origin, subject, _one_table(subject, node) or f"expected a table [{subject}]")
        before = len(self.parts.problems)
        values, keys = self._values(cls, node.value, node.origin, subject, other_keys)
        if subject:
            self.parts.tree[subject] = Node(keys, node.origin)
        else:
            self.parts.tree |= keys
        return self._construct(cls, values, keys, node.origin, subject) if len(self.parts.problems) == before else INVALID

    def table(self, key: str, kind: str, tree: Node) -> None:
        node = tree.value.get(key)
        if key == "critic" and (node is None or node.value is False):  # false: not the one of the recipe that this one extends
            return
        if node is None:
            self.missing(tree.origin.place, key, f"required: a table [{key}] with `use = …`{self._choices(kind)}")
            return
        self.parts.asked[key] = 1
        placed = self.component(kind, node, key)
        if placed is not None:
            self.parts.single[key] = placed
            self.parts.tree[key] = placed.node

    def list(self, key: str, kind: str, tree: Node) -> None:
        node = tree.value.get(key, Node([], Origin("default", tree.origin.folder)))
        if not isinstance(node.value, list):
            how = f"--set '{key}=[\"…\"]'" if node.origin.is_set else f"[[{key}]] with double brackets"
            self._wrong(node.origin, key, f"expected a list: write {how}, one for each")
            self.parts.asked[key] = 1  # so that nobody misses it
            return
        self.parts.asked[key] = len(node.value)
        owned = tuple(name for name, lists in OWNED.items() if key in lists)
        placed = [self.component(kind, item, f"{key}.{index}", owned) for index, item in enumerate(node.value)]
        self.parts.lists[key] = [one for one in placed if one is not None]
        self.parts.tree[key] = Node([one.node for one in self.parts.lists[key]], node.origin)

    def component(
        self, kind: str, node: Node, subject: str, owned: Sequence[str] = (), default: str | None = None
    ) -> Placed | None:
        """The component that ``node`` (a name, or a table with ``use``) asks for."""
        if isinstance(node.value, str):
            node = Node({"use": node}, node.origin)
        if not node.is_table:
            told = _one_table(subject, node) if subject in TABLES else None
            self._wrong(node.origin, subject, told or "expected a name, or a table with `use = …`")
            return None
        given = dict(node.value)
        use = given.pop("use", None if default is None else Node(default, Origin("default", node.origin.folder)))
        if use is None or not isinstance(use.value, str):
            self._wrong(node.origin, f"{subject}.use", f"required: the name of a component{self._choices(kind)}")
            return None
        try:
            entry = self.plugins.registries[kind].find(use.value)
            cls = entry.load()
        except PluginError as error:
            self._wrong(use.origin, f"{subject}.use", _told(error))
            if not self.all_plugins and not self._is_near(kind, use.value):
                self.following.add(self.parts.problems[-1])
            return None
        if not attrs.has(cls):
            self._wrong(use.origin, f"{subject}.use", f"{entry.target} is not an attrs class, so it cannot be a component")
            return None
        placed = self._placed(entry, cls, use, given, node.origin, subject, owned)
        wrong = list(misfits(entry, cls, None if placed is None else placed.part))
        for message in wrong:
            self._wrong(use.origin, f"{subject}.use", message)
        return None if wrong else placed

    def _placed(
        self, entry: Entry, cls: type, use: Node, given: dict[str, Node], origin: Origin, subject: str, owned: Sequence[str]
    ) -> Placed | None:
        before = len(self.parts.problems)
        owned = (*owned, "from") if "from" in given else owned
        taken = set(owned) & recipe_keys(cls).keys()
        if taken:
            self._wrong(use.origin, subject, f"{cls.__qualname__} has a field '{min(taken)}', which is the core's own key here")
            return None
        core = {key: given.pop(key) for key in owned if key in given}
        weight = self._owned("weight", float, 1.0, core, subject, use.origin) if "weight" in owned else None
        gate = self._owned("gate", bool, False, core, subject, use.origin) if "gate" in owned else None
        supplied = self._chained_path(cls, core["from"], given, subject) if "from" in core else {}
        values, keys = self._values(cls, given, origin, subject, (*owned, "use"), supplied, entry.kind)
        if len(self.parts.problems) > before:
            return None
        part = self._construct(cls, values | supplied, keys, use.origin, subject)
        if part is INVALID:
            return None
        head = {"use": Node(entry.qualified, use.origin)} | core
        head |= {key: node for key, node in (("weight", weight), ("gate", gate)) if node is not None}
        placed = Placed(
            subject,
            entry,
            part,
            Node(head | keys, origin),
            1.0 if weight is None else weight.value,
            gate is not None and gate.value,
        )
        self.parts.every.append(placed)
        return placed

    def _owned(self, key: str, kind: type, default: Any, core: dict[str, Node], subject: str, origin: Origin) -> Node:
        """The value of a key that the core owns."""
        node = core.get(key, Node(default, Origin("default", origin.folder)))
        return Node(convert(kind, node, f"{subject}.{key}", self.parts.problems), node.origin)

    def _chained_path(self, cls: type, chained: Node, given: dict[str, Node], subject: str) -> dict[str, Any]:
        """The component's ``path`` until the recipe its weights come from has run."""
        if "path" not in recipe_keys(cls):
            self._wrong(
                chained.origin, f"{subject}.from", f"{cls.__qualname__} has no key 'path' to take weights of another recipe from"
            )
            return {}
        if "path" in given:
            self._wrong(
                given.pop("path").origin, f"{subject}.path", "the weights come from the recipe named by 'from'; keep one of the two"
            )
        pending = Node(f"the final checkpoint of {chained.value}", chained.origin)
        return {"path": convert(annotation(cls, "path"), pending, f"{subject}.path", self.parts.problems)}

    def _values(
        self,
        cls: type,
        given: Mapping[str, Node],
        origin: Origin,
        subject: str,
        other_keys: Sequence[str] = (),
        supplied: Mapping[str, Any] | None = None,
        kind: str | None = None,
    ) -> tuple[dict[str, Any], dict[str, Node]]:
        """Typed values of ``cls``'s fields, and the same as a recipe would write them, defaults filled in."""
        fields = recipe_keys(cls)
        for key in given.keys() - fields.keys():
            hint = self.hints.of(key, given[key], subject, [*fields, *other_keys], kind)
            self._wrong(given[key].origin, _join(subject, key), hint.message)
            self.meant |= set() if hint.meant is None else {hint.meant}
        values: dict[str, Any] = {}
        frozen_keys: dict[str, Node] = {}
        for key, attribute in fields.items():
            if supplied and key in supplied:
                continue
            node = given.get(key) or default_node(attribute, Origin("default", origin.folder))
            if node is None and attribute.default is attrs.NOTHING:
                self.missing(origin.place, _join(subject, key), _required(attribute, key, origin, subject))
            if node is None:
                values[key] = None
            elif PART in attribute.metadata:
                self._part(attribute, node, subject, values, frozen_keys)
            elif (value := self._value(cls, attribute, node, origin, subject)) is not INVALID:
                values[key] = value
                frozen_keys[key] = freeze(value, node.origin)
        self._check(fields, values, {key: node.origin for key, node in frozen_keys.items()}, subject)
        return values, frozen_keys

    def _value(self, cls: type, attribute: attrs.Attribute[Any], node: Node, origin: Origin, subject: str) -> Any:
        here = _join(subject, attribute.alias or attribute.name)
        try:
            return convert(annotation(cls, attribute.name), node, here, self.parts.problems)
        except (TypeError, NameError) as error:
            return self._wrong(origin, here, f"{cls.__qualname__} cannot be used in recipes: {error}")

    def _part(
        self, attribute: attrs.Attribute[Any], node: Node, subject: str, values: dict[str, Any], frozen_keys: dict[str, Node]
    ) -> None:
        key = attribute.alias or attribute.name
        default = attribute.default if isinstance(attribute.default, str) else None
        placed = self.component(attribute.metadata[PART], node, _join(subject, key), default=default)
        if placed is not None:
            values[key], frozen_keys[key] = placed.part, placed.node

    def _check(
        self, fields: Mapping[str, attrs.Attribute[Any]], values: Mapping[str, Any], origins: Mapping[str, Origin], subject: str
    ) -> None:
        """Run every validator; constructing the class would stop at the first that complains."""
        instance = SimpleNamespace(**values)
        for key, value in values.items():
            validator = fields[key].validator
            if validator is None or key not in origins:
                continue
            try:
                validator(instance, fields[key], value)
            except ValueError as error:
                self._wrong(origins[key], _join(subject, key), str(error).removeprefix(f"{fields[key].name}: "))

    def _construct(self, cls: type, values: Mapping[str, Any], keys: Mapping[str, Node], origin: Origin, subject: str) -> Any:
        """The object; what its class refuses with ``"key: why"`` is told at that key."""
        try:
            return cls(**values)
        except ValueError as error:
            key, _, why = str(error).partition(": ")
            if key not in keys or keys[key].origin.is_default:
                return self._wrong(origin, subject, str(error))
            return self._wrong(keys[key].origin, _join(subject, key), why)
        except UserError as error:
            return self._wrong(origin, subject, _told(error))

    def _choices(self, kind: str) -> str:
        return nearest("", [entry.name for entry in self.plugins.registries[kind].entries])

    def _is_near(self, kind: str, name: str) -> bool:
        """A component that there is has such a name, so that the name is probably what is wrong."""
        entries = self.plugins.registries[kind].entries
        return bool(self.plugins.registries[kind].offers(name)) or closest(name, [entry.name for entry in entries]) is not None

    def _wrong(self, origin: Origin, subject: str, message: str) -> Any:
        self.parts.problems.append(Problem(origin.place, subject, message))
        return INVALID


def _join(subject: str, key: str) -> str:
    return f"{subject}.{key}" if subject else key


def _required(attribute: attrs.Attribute[Any], key: str, origin: Origin, subject: str) -> str:
    message = f"required: {attribute.metadata.get(HELP, 'has no default')}"
    return f"{message}; add [{subject}] with `{key} = …`" if origin.is_default and subject in TABLES else message


def _told(error: UserError) -> str:
    return "; ".join(problem.message for problem in error.problems)


def _one_table(subject: str, node: Node) -> str | None:
    """What to say of ``[[model]]``."""
    doubled = isinstance(node.value, list) and any(item.is_table for item in node.value) and not node.origin.is_set
    return f"expected one table: write [{subject}] with single brackets" if doubled else None
