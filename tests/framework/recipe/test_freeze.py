"""A frozen recipe leaves nothing open and loads again to the same run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jackfield import __version__
from jackfield.plugins import Plugins
from jackfield.recipe import Recipe, load_recipe
from jackfield.recipe.freeze import to_toml, toml_value
from jackfield.recipe.tree import Node, Origin, plain, plant

RICH = """\
rollout = {use = "chat", greeting = "say \\"hi\\"\\n"}
tools = [{use = "search", corpus = {use = "passages", shards = ["a", "b"]}}]
losses = ["clip", {use = "clip", weight = 0.5}]
[data]
use = "rows"
columns = {"a b" = "c", d = "é"}
[learn]
epochs = 2
"""


def frozen_again(recipe: Recipe, plugins: Plugins, folder: str = "run") -> Recipe:
    recipe.write_frozen(Path(folder))
    return load_recipe(Path(folder) / "recipe.toml", plugins)


def test_a_frozen_recipe_has_every_default_and_qualified_names(desk: Any) -> None:
    """Nothing depends on what the next version's defaults are, or on which plugins will be installed."""
    frozen = desk.sound(RICH, without=["rollout", "losses", "data"]).frozen
    assert frozen["learn"] == {
        "epochs": 2,
        "minibatches": 1,
        "tokens_per_microbatch": 4096,
        "logits_chunk": 1024,
        "aggregation": "token_mean",
        "max_grad_norm": 1.0,
    }
    assert frozen["engine"] == {"use": "fakes:torch", "threads": 1}
    assert frozen["tools"] == [
        {
            "use": "fakes:search",
            "corpus": {"use": "fakes:passages", "shards": [str(Path.cwd() / "a"), str(Path.cwd() / "b")], "size": "all"},
            "top_k": 3,
        }
    ]
    assert [loss["weight"] for loss in frozen["losses"]] == [1.0, 0.5]
    assert frozen["versions"] == {"jackfield": __version__, "fakes": "a local file"}


def test_every_value_says_where_it_came_from(desk: Any) -> None:
    """File and line, ``--set`` or default."""
    desk.write("\n[learn]\nepochs = 3\n", "bases/base.toml")
    origins = desk.sound('extends = "bases/base.toml"', "losses.0.clip_low=0.1").frozen["origins"]
    expected = {
        "steps": "r.toml:2",
        "learn.epochs": "bases/base.toml:3",
        "learn.minibatches": "default",
        "losses.0.clip_low": "--set",
        "losses.0.use": "r.toml:10",
        "engine.use": "default",
    }
    assert {key: origins[key] for key in expected} == expected


def test_the_frozen_file_shows_values_with_their_origins(desk: Any) -> None:
    """For people; the same lines are read again by load_recipe."""
    recipe = desk.sound("", "learn.epochs=2")
    recipe.write_frozen(Path("run"))
    lines = Path("run/recipe.toml").read_text().splitlines()
    assert lines[0] == f"# Frozen from r.toml; digest {recipe.digest}"
    assert "# jackfield: " + __version__ in lines
    assert 'title = "a test"  # r.toml:1' in lines
    assert "epochs = 2  # --set" in lines
    assert "minibatches = 1  # default" in lines
    assert 'use = "fakes:clip"  # r.toml:10' in lines


def test_a_frozen_recipe_loads_again_to_the_same_run(desk: Any) -> None:
    """Also from another folder, and when frozen twice."""
    recipe = desk.sound(RICH, without=["rollout", "losses", "data"])
    again = frozen_again(recipe, desk.plugins, "runs/one")
    twice = frozen_again(again, desk.plugins, "elsewhere")
    assert recipe.digest == again.digest == twice.digest
    for key in ("data", "rollout", "tools", "losses", "learn", "model"):
        assert recipe.frozen[key] == again.frozen[key] == twice.frozen[key]
    assert recipe.corridor.data == again.corridor.data


def test_a_frozen_chain_holds_all_its_recipes(desk: Any) -> None:
    """Deleting or editing the files it was made of changes nothing."""
    sft = 'title = "sft"\nsteps = 1\ntasks_per_step = 1\nmodel = {use = "hf", path = "w"}\ndata = "rows"\nrollout = "chat"\n'
    desk.write(sft + 'advantage = "constant"\nlosses = ["clip"]\n', "sft.toml")
    recipe = desk.sound('[model]\nuse = "hf"\nfrom = "sft.toml"', without=["model"])
    recipe.write_frozen(Path("run"))
    Path("sft.toml").unlink()
    Path("run").rename("moved")
    again = load_recipe(Path("moved/recipe.toml"), desk.plugins)
    assert again.digest == recipe.digest
    assert again.chained["model"].digest == recipe.chained["model"].digest


# -------------------------------------------------------------------------------------------------------------- digest


@pytest.mark.parametrize(
    "override",
    [
        "title=other",
        "evaluate.every=3",
        "checkpoint.keep=9",
        "trackers=[]",
        "learn.minibatches=1",
        "losses.0={use='fakes:clip', clip_low=0.2}",
        'requires=["attrs"]',
    ],
)
def test_what_cannot_change_the_model_does_not_change_the_digest(desk: Any, override: str) -> None:
    """Titles, trackers, evaluation, checkpoints; and writing out a default."""
    assert desk.sound("", override).digest == desk.sound().digest


@pytest.mark.parametrize(
    "override",
    [
        "seed=1",
        "steps=11",
        "learn.epochs=2",
        "losses.0.weight=2",
        "model.path=other",
        "sampling.temperature=0.9",
        "rewards=['format']",
    ],
)
def test_what_changes_the_model_changes_the_digest(desk: Any, override: str) -> None:
    """Every other key."""
    assert desk.sound("", override).digest != desk.sound().digest


def test_a_comment_or_another_order_does_not_change_the_digest(desk: Any) -> None:
    """Neither does where a value came from."""
    one = desk.sound("[learn]\nepochs = 2\nminibatches = 2").digest
    assert desk.sound("# hello\n[learn]\nminibatches = 2\nepochs = 2").digest == one
    assert desk.sound("", "learn.epochs=2", "learn.minibatches=2").digest == one


# ---------------------------------------------------------------------------------------------------------- properties

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
fractions = st.floats(0, 1).filter(lambda value: value > 0 or str(value) == "0.0")
overrides = st.fixed_dictionaries(
    {},
    optional={
        "title": text,
        "seed": st.integers(0, 2**70),
        "steps": st.integers(0, 10**6),
        "sampling.temperature": st.floats(1e-300, 1e300) | st.integers(1, 5),
        "evaluate.enabled": st.booleans(),
        "rollout.greeting": text,
        "rollout.polite": st.booleans(),
        "data.columns": st.dictionaries(text.filter(lambda key: key != "use"), text, max_size=3),
        "data.limit": st.integers(),
        "data.file": text.filter(lambda path: "\0" not in path and not path.startswith("~")),
        "losses": st.lists(
            st.fixed_dictionaries({"use": st.just("clip")}, optional={"weight": st.floats(0.1, 9), "clip_high": st.floats(0.2, 1)}),
            min_size=1,
            max_size=3,
        ),
        "tools": st.lists(st.just("search") | st.just({"use": "search", "corpus": {"shards": ["x"], "size": 3}}), max_size=1),
        "trackers": st.lists(st.just("console"), max_size=2),
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(overrides)
def test_any_recipe_frozen_loads_again_with_the_same_digest(desk: Any, chosen: dict[str, Any]) -> None:
    """Whatever the values: control characters, quotes, infinities, integers of any size, empty tables and lists."""
    recipe = desk.sound("", *(f"{key}={toml_value(value)}" for key, value in chosen.items()))
    again = frozen_again(recipe, desk.plugins)
    without_places = [{key: value for key, value in one.frozen.items() if key != "origins"} for one in (recipe, again)]
    assert without_places[0] == without_places[1]
    assert again.digest == recipe.digest


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
leaves = text | st.integers() | st.booleans() | st.floats(allow_nan=False)
tables = st.recursive(
    st.dictionaries(names, leaves, max_size=3),
    lambda inner: st.dictionaries(names, leaves | inner | st.lists(inner, max_size=2) | st.lists(leaves, max_size=3), max_size=4),
    max_leaves=8,
)


@given(tables)
def test_any_tree_written_as_toml_reads_back(values: dict[str, Any]) -> None:
    """Sub-tables, lists of tables and keys that need quotes among them."""
    tree = plant(values, lambda _: Origin("a\nb.toml:1", Path()))
    assert tomllib.loads(to_toml(tree.value, ["a header\nof two lines"])) == values == plain(Node(tree.value, tree.origin))
