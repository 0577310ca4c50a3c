"""The layers: what may import what, what stays light, and that every hook and component says what it is."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import resource
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from jackfield import hookspecs
from jackfield.component import HELP
from jackfield.plugins import GROUP, Plugins, Source
from jackfield.recipe.fields import recipe_keys
from jackfield.registry import KINDS, SPECS, Entry

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "framework" / "jackfield"
HEAVY = {"torch", "transformers", "faiss", "bm25s", "peft", "httpx", "tensorboard", "gguf", "tokenizers", "safetensors"}
POINTS: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][GROUP]


def builtin_plugins() -> Plugins:
    """Loaded from pyproject.toml's entry points, whatever is installed."""
    plugins = Plugins()
    for name, module in POINTS.items():
        plugins.add(Source(name=name, value=module), lambda module=module: importlib.import_module(module))  # type: ignore[misc]
    return plugins


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """For a subprocess that sees this working tree and its entry points, whether or not it is installed."""
    site = tmp_path_factory.mktemp("site")
    info = site / "jackfield-0.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: jackfield\nVersion: 0.0.0\n")
    points = "".join(f"{name} = {module}\n" for name, module in POINTS.items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")
    paths = [str(site), str(ROOT / "framework"), str(ROOT / "plugins")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


@pytest.mark.parametrize("command", [["--help"], ["plugins"], ["components"], ["components", "losses"], ["recipes"]])
def test_listing_commands_stay_light(environment: dict[str, str], command: list[str]) -> None:
    """They import neither torch nor numpy, and no plugin's modules beside its ``__init__``; every plugin loads."""
    code = (
        "import sys; from jackfield.cli.main import main; code = main(sys.argv[1:]); "
        "print(*sorted(sys.modules), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, *command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "jackfield: warning" not in done.stderr
    imported = set(done.stderr.split())
    assert not imported & (HEAVY | {"numpy", "rich"})
    assert {module.partition(".")[0] for module in imported if module.startswith("jackfield_")} == set(POINTS.values())
    assert not [module for module in imported if module.startswith("jackfield_") and "." in module]


@pytest.mark.parametrize("command", ["--help", "plugins", "components", "recipes"])
def test_listing_commands_are_quick(environment: dict[str, str], command: str) -> None:
    """Under 0.3 s of processor time, warm: the best of five, so that a busy machine does not decide."""
    seconds = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "jackfield", command], env=environment, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert 0 < min(seconds) < 0.3


def imports(tree: ast.AST) -> Iterator[str]:
    """Names of modules that run-time code below ``tree`` imports, without what only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        yield from imports(node)


def at_import(tree: ast.AST) -> Iterator[str]:
    """The same, but only what runs when the module is imported: not the bodies of functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imports(ast.Module(body=[node], type_ignores=[]))
        else:
            yield from at_import(node)


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(), filename=str(file))


def top(names: Iterator[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def test_the_finders_of_imports_find_them() -> None:
    """The two readers below tell import time from call time and from type checking."""
    tree = ast.parse(
        "if TYPE_CHECKING:\n    import a\nimport b.c\ntry:\n    from d import e\nfinally: ...\ndef f():\n    import g\n"
    )
    assert set(imports(tree)) == {"b.c", "d", "g"}
    assert set(at_import(tree)) == {"b.c", "d"}


@pytest.mark.parametrize("file", sorted(CORE.rglob("*.py")), ids=lambda file: str(file.relative_to(CORE)))
def test_the_core_imports_no_plugin(file: Path) -> None:
    """Not even inside a function: a built-in plugin has no privileges."""
    assert not [name for name in top(imports(parsed(file))) if name.startswith("jackfield_")]


LIGHT = [
    CORE / name
    for name in ("__init__.py", "plugins.py", "registry.py", "offers.py", "hookcheck.py", "hookspecs.py", "component.py")
] + [*(CORE / "cli").glob("*.py"), *(CORE / "recipe").glob("*.py")]


@pytest.mark.parametrize("file", sorted(LIGHT), ids=lambda file: str(file.relative_to(CORE)))
def test_recipes_registries_and_commands_import_nothing_heavy(file: Path) -> None:
    """At import; a command that runs a model imports it when it runs."""
    assert not top(at_import(parsed(file))) & HEAVY


@pytest.mark.parametrize("file", sorted((ROOT / "plugins").rglob("*.py")), ids=lambda file: str(file.relative_to(ROOT / "plugins")))
def test_plugins_import_only_the_core_and_nothing_heavy(file: Path) -> None:
    """No plugin imports another; heavy libraries are imported where they are used."""
    own = file.relative_to(ROOT / "plugins").parts[0]
    assert not [name for name in top(imports(parsed(file))) if name.startswith("jackfield_") and name != own]
    if file.name == "__init__.py":
        assert not top(at_import(parsed(file))) & (HEAVY | {"numpy"})


def test_hook_signatures_are_pinned() -> None:
    """Changing a hook breaks plugins: the golden file is changed by hand, and on purpose."""
    golden = (ROOT / "tests" / "golden" / "hooks.txt").read_text().splitlines()
    assert [f"{name}{signature}" for name, signature in SPECS.items()] == golden


def test_every_hook_is_documented() -> None:
    """hookspecs.py is the manual of the plugin writer."""
    assert not [name for name in SPECS if not inspect.getdoc(getattr(hookspecs, name))]


def test_every_builtin_plugin_loads() -> None:
    """None fails, and each offers something."""
    plugins = builtin_plugins()
    assert not [str(problem) for failure in plugins.failures for problem in failure.problems]
    assert {plugin.name for plugin in plugins.loaded} == set(POINTS)


def test_builtin_names_are_unambiguous() -> None:
    """Recipes that come with Jackfield write bare names."""
    for registry in builtin_plugins().registries.values():
        names = [entry.name for entry in registry.entries]
        assert len(names) == len(set(names))


ENTRIES = [entry for registry in builtin_plugins().registries.values() for entry in registry.entries]


def test_every_kind_has_a_builtin_component() -> None:
    """A kind that nothing offers is a hook without use."""
    assert {entry.kind for entry in ENTRIES} == set(KINDS)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.kind}.{entry.qualified}")
def test_every_builtin_component_explains_itself(entry: Entry) -> None:
    """It imports, is an attrs class with a docstring of its own, and every recipe key has help."""
    cls = entry.load()
    assert attrs.has(cls)
    assert "__doc__" in vars(cls)
    assert not (cls.__doc__ or "").startswith("Method generated by attrs")
    assert inspect.getdoc(cls)
    assert not [key for key, field in recipe_keys(cls).items() if not field.metadata.get(HELP)]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.kind}.{entry.qualified}")
def test_every_builtin_component_is_explained(entry: Entry) -> None:
    """``explain`` gives TOML that holds the name."""
    from jackfield.cli.component_keys import example

    text = tomllib.loads("\n".join(example(entry, entry.load())))
    assert f"'use': '{entry.name}'" in str(text)


def test_components_construct_without_heavy_imports(environment: dict[str, str]) -> None:
    """Importing every component's module, and constructing those without required keys, imports no torch."""
    code = f"""
import contextlib, sys, attrs
from jackfield.plugins import load_plugins
from jackfield.recipe.fields import recipe_keys
plugins = load_plugins(environ={{"JACKFIELD_PLUGINS": {",".join(POINTS)!r}}})
for registry in plugins.registries.values():
    for entry in registry.entries:
        cls = entry.load()
        if all(field.default is not attrs.NOTHING for field in recipe_keys(cls).values()):
            with contextlib.suppress(ValueError):  # keys that only go together
                cls()
        heavy = sorted(set(sys.modules) & {HEAVY!r})
        assert not heavy, (entry.qualified, heavy)
"""
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
