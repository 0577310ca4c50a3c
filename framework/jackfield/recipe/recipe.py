"""A recipe, read and found sound."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from attrs import frozen
from packaging.requirements import InvalidRequirement, Requirement

from jackfield import __version__
from jackfield.corridor import Corridor, Named
from jackfield.errors import Problem, RecipeError, UserError
from jackfield.recipe.build import build
from jackfield.recipe.check import check, check_components, check_observers
from jackfield.recipe.fields import INVALID, convert, freeze, recipe_keys, show
from jackfield.recipe.find import find_recipe
from jackfield.recipe.freeze import digest, to_toml
from jackfield.recipe.parts import Parts
from jackfield.recipe.read import read, show_path
from jackfield.recipe.smoke import in_small, put_tiny_model
from jackfield.recipe.tree import Node, Origin, assign, plain, walk

if TYPE_CHECKING:
    from jackfield.plugins import Plugins

CHAINED_FOLDER = "chained"


@frozen(kw_only=True, eq=False)
class Recipe:
    """What a run is made of: components constructed, nothing loaded."""

    path: Path
    corridor: Corridor
    parts: Parts
    """The same by their place in the recipe."""
    frozen: Mapping[str, Any]
    """Every key with its value, defaults filled in and components by qualified name; besides, ``versions`` (plugin → distribution
    and version) and ``origins`` (dotted key → ``file:line``, ``--set`` or ``default``)."""
    digest: str
    """Two recipes with the same digest train the same model (see freeze.digest)."""
    chained: Mapping[str, Recipe]
    """Place of a component (``model``, ``critic``, ``rewards.0``) → the recipe whose final checkpoint gives it its weights (its key
    ``from``)."""

    def with_model_path(self, folder: Path) -> Recipe:
        """With the weights that a policy's ``save`` wrote to ``folder``."""
        model = self.corridor.model.from_folder(folder)
        return attrs.evolve(self, corridor=attrs.evolve(self.corridor, model=model))

    def with_checkpoint(self, subject: str, folder: Path) -> Recipe:
        """With the weights of a checkpoint in the component at this place: its ``path`` becomes the checkpoint's folder (a language
        model's: the folder ``model`` in it)."""
        return attrs.evolve(self, corridor=_with_checkpoint(self.corridor, subject.split("."), folder))

    def write_frozen(self, folder: Path) -> None:
        """Write ``recipe.toml``, which loads again to this recipe whatever happens to the files it was made of; the recipes that
        weights come from are written to folders below."""
        tree = dict(self.parts.tree)
        for subject, source in self.chained.items():
            source.write_frozen(folder / CHAINED_FOLDER / subject)
            tree = _with_source(tree, subject, f"{CHAINED_FOLDER}/{subject}/recipe.toml")
        versions = [f"{name}: {version}" for name, version in self.frozen["versions"].items()]
        header = [f"Frozen from {show_path(self.path)}; digest {self.digest}", *versions]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "recipe.toml").write_text(to_toml(tree, header), encoding="utf-8")


def load_recipe(path: Path, plugins: Plugins, overrides: Sequence[str] = (), *, smoke: bool = False) -> Recipe:
    """Read, type, build and check a recipe; ``overrides`` are the values of ``--set``. With ``smoke``, once it is found sound, the
    same corridor in small (see smoke.py).

    Raises RecipeError with every problem found. Local plugin files that the recipe names are added to ``plugins``.
    """
    recipe = _load(path, plugins, overrides, smoke=False)
    return _load(path, plugins, overrides, smoke=True) if smoke else recipe


def _load(
    path: Path,
    plugins: Plugins,
    overrides: Sequence[str],
    *,
    smoke: bool,
    children: tuple[Path, ...] = (),
    asked_at: str = "",
) -> Recipe:
    """``children``: the recipes that led here by a key ``from``; ``asked_at``: the place of that key."""
    tree, problems = read(path, overrides, asked_at)
    tree = in_small(tree, plugins) if smoke else tree
    absent = list(_requirements(tree))
    plugin_files = _plugin_files(tree, plugins, absent)
    parts = build(tree, plugins, all_plugins=not absent)
    if plugin_files:
        parts.tree["plugins"] = freeze(plugin_files, tree.value["plugins"].origin)
    problems += [*absent, *parts.problems, *check(parts, plugins)]
    chained = _chained(tree, path, plugins, children, problems, smoke)
    if problems:
        raise RecipeError(_in_order(problems, tree.origin.place))
    for subject, source in chained.items():
        parts.tree = _with_source(parts.tree, subject, str(source.path.resolve()))
    if smoke and "model" not in chained:  # else its weights, tiny already, come from the recipe before
        put_tiny_model(parts, plugins)
    corridor = parts.corridor()
    recipe = Recipe(
        path=path,
        corridor=corridor,
        parts=parts,
        frozen=_frozen(parts),
        digest=digest(
            parts.tree, _local_files(plugin_files, parts, plugins), {subject: source.digest for subject, source in chained.items()}
        ),
        chained=chained,
    )
    problems += [*check_components(parts, corridor), *check_observers(recipe, plugins)]
    if problems:
        raise RecipeError(_in_order(problems, tree.origin.place))
    return recipe


def _in_order(problems: Sequence[Problem], home: str) -> list[Problem]:
    """By file and line, each once. What is wrong with a default is told at ``home``, the recipe's first line."""

    def position(problem: Problem) -> tuple[str, int]:
        file, _, line = problem.place.rpartition(":")
        return (file, int(line)) if line.isdigit() else (problem.place, 0)

    placed = [attrs.evolve(problem, place=home) if problem.place == "default" else problem for problem in problems]
    return sorted(dict.fromkeys(placed), key=position)


def _frozen(parts: Parts) -> dict[str, Any]:
    tree = {key: plain(node) for key, node in parts.tree.items()}
    origins = {".".join(map(str, path)): node.origin.place for key, item in parts.tree.items() for path, node in walk(item, (key,))}
    entries = sorted({placed.entry.plugin: placed.entry for placed in parts.every}.items())
    brought = {name: f"{entry.distribution} {entry.version}" if entry.distribution else "a local file" for name, entry in entries}
    return tree | {"versions": {"jackfield": __version__} | brought, "origins": origins}


def _requirements(tree: Node) -> Iterator[Problem]:
    """``requires = ["jackfield-acme>=1.2"]`` against what is installed."""
    if "requires" not in tree.value:
        return
    problems: list[Problem] = []
    required = convert(tuple[str, ...], tree.value["requires"], "requires", problems)
    yield from problems
    if required is INVALID:
        return
    for text, node in zip(required, tree.value["requires"].value, strict=True):
        message = _unmet(text)
        if message is not None:
            yield Problem(node.origin.place, "requires", message)


def _unmet(text: str) -> str | None:
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        return f"'{text}' is not a requirement like 'jackfield-acme>=1.2': {str(error).splitlines()[0]}"
    if requirement.marker is not None and not requirement.marker.evaluate():
        return None
    try:
        installed = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return f"needs {text}, which is not installed; pip install '{text}'"
    if requirement.specifier.contains(installed, prereleases=True):
        return None
    return f"needs {text}, found {requirement.name} {installed}; pip install '{text}'"


def _plugin_files(tree: Node, plugins: Plugins, problems: list[Problem]) -> tuple[Path, ...]:
    """Load the recipe's own plugin files."""
    if "plugins" not in tree.value:
        return ()
    files = convert(tuple[Path, ...], tree.value["plugins"], "plugins", problems)
    if files is INVALID:
        return ()
    for file, node in zip(files, tree.value["plugins"].value, strict=True):
        try:
            plugins.add_file(file)
        except UserError as error:
            problems += [
                Problem(node.origin.place, "plugins", f"{show_path(file)}: {problem.message}") for problem in error.problems
            ]
        for failure in plugins.failures:
            if failure.value == str(file.resolve()):
                problems += [Problem(node.origin.place, "plugins", str(problem)) for problem in failure.problems]
    return tuple(files)


def _local_files(plugin_files: Sequence[Path], parts: Parts, plugins: Plugins) -> list[Path]:
    """Files that results depend on: the recipe's plugin files, others that brought a component of it, and those its components name, by
    keys that hold a path or by themselves (``local_files``)."""
    files = [*plugin_files]
    from_files = {loaded.name: Path(loaded.value) for loaded in plugins.loaded if loaded.distribution is None}
    files += [from_files[placed.entry.plugin] for placed in parts.every if placed.entry.plugin in from_files]
    for placed in parts.every:
        for attribute in recipe_keys(type(placed.part)).values():
            value = getattr(placed.part, attribute.name)
            files += [path for path in (value if isinstance(value, tuple) else (value,)) if isinstance(path, Path)]
        files += getattr(placed.part, "local_files", ())
    return list({file.resolve(): file for file in files if file.is_file()})


def _with_checkpoint(part: Any, keys: Sequence[str], folder: Path) -> Any:
    if isinstance(part, Named):
        return attrs.evolve(part, part=_with_checkpoint(part.part, keys, folder))
    if not keys:
        return part.from_folder(folder / "model") if hasattr(part, "from_folder") else attrs.evolve(part, path=str(folder))
    key, rest = keys[0], keys[1:]
    if isinstance(part, tuple):
        return tuple(_with_checkpoint(entry, rest, folder) if str(index) == key else entry for index, entry in enumerate(part))
    return attrs.evolve(part, **{key: _with_checkpoint(getattr(part, key), rest, folder)})


def _with_source(tree: Mapping[str, Node], subject: str, source: str) -> dict[str, Node]:
    """The tree with the component at ``subject`` chained from another file."""
    origins = dict(_sources(Node(dict(tree), Origin("", Path()))))
    leaf = Node(source, origins[tuple(subject.split("."))].origin)
    changed: dict[str, Node] = assign(Node(dict(tree), leaf.origin), [*subject.split("."), "from"], leaf).value
    return changed


def _sources(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Where components stand that take their weights from another recipe, and the value of their key ``from``."""
    if node.is_table and {"use", "from"} <= node.value.keys():
        yield path, node.value["from"]
    items = node.value.items() if node.is_table else enumerate(node.value) if isinstance(node.value, list) else ()
    for key, item in items:
        yield from _sources(item, (*path, str(key)))


def _chained(
    tree: Node, path: Path, plugins: Plugins, children: tuple[Path, ...], problems: list[Problem], smoke: bool
) -> dict[str, Recipe]:
    """The recipes named by keys ``from``; their problems are added to ours, at their own places."""
    found = {}
    for keys, source in _sources(tree):
        recipe = _source(".".join(keys), source, path, plugins, children, problems, smoke)
        if recipe is not None:
            found[".".join(keys)] = recipe
    return found


def _source(
    subject: str, source: Node, path: Path, plugins: Plugins, children: tuple[Path, ...], problems: list[Problem], smoke: bool
) -> Recipe | None:
    if not isinstance(source.value, str):
        problems.append(
            Problem(source.origin.place, f"{subject}.from", f"expected the path or name of a recipe, found {show(source)}")
        )
        return None
    try:
        parent = Path(os.path.normpath(Path.cwd() / find_recipe(source.value, source.origin.folder, source.origin.place)))
    except RecipeError as error:
        problems += error.problems
        return None
    children = (*children, path.resolve())
    if parent.resolve() in children:
        circle = " → ".join(map(show_path, [*children[children.index(parent.resolve()) :], parent]))
        problems.append(Problem(source.origin.place, f"{subject}.from", f"goes in a circle: {circle}"))
        return None
    try:
        return _load(parent, plugins, (), smoke=smoke, children=children, asked_at=source.origin.place)
    except RecipeError as error:
        problems += error.problems
        return None
