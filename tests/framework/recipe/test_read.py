"""Files, parents and overrides to one tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jackfield.errors import RecipeError
from jackfield.recipe.read import read
from jackfield.recipe.tree import Node, plain

NO_RECIPE = "no such recipe file, and none that comes with Jackfield has this name"


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def values(*overrides: str, path: str = "r.toml") -> dict[str, Any]:
    tree, problems = read(Path(path), overrides)
    assert not problems
    read_values = plain(tree)
    assert isinstance(read_values, dict)
    return read_values


def wrong(*overrides: str, path: str = "r.toml") -> list[str]:
    try:
        _, problems = read(Path(path), overrides)
    except RecipeError as error:
        return [str(problem) for problem in error.problems]
    return [str(problem) for problem in problems]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_recipe_has_an_engine_an_optimizer_and_trackers() -> None:
    """What a recipe does not say of them is filled in."""
    write("r.toml", "")
    assert values() == {
        "engine": {"use": "torch"},
        "optimizer": {"use": "adamw"},
        "trackers": [{"use": "console"}, {"use": "metrics_jsonl"}, {"use": "rollouts_jsonl"}],
    }


# ------------------------------------------------------------------------------------------------------------- extends


def test_tables_merge_key_by_key_over_all_generations() -> None:
    """The child's keys win, the parents' others stay; paths of parents are relative to the child."""
    write("bases/root.toml", "steps = 1\n[learn]\nepochs = 1\nminibatches = 1\n")
    write("bases/base.toml", 'extends = "root.toml"\n[learn]\nepochs = 2\n')
    write("r.toml", 'extends = "bases/base.toml"\n[learn]\nminibatches = 3\n')
    assert values()["learn"] == {"epochs": 2, "minibatches": 3}
    assert values()["steps"] == 1
    assert "extends" not in values()


def test_a_changed_use_drops_the_keys_of_the_parents_table() -> None:
    """Another component has other keys."""
    write("base.toml", '[advantage]\nuse = "gae"\nlam = 0.9\n')
    write("r.toml", 'extends = "base.toml"\n[advantage]\nuse = "group_norm"\n')
    assert values()["advantage"] == {"use": "group_norm"}


def test_the_same_use_keeps_the_keys_of_the_parents_table() -> None:
    """Saying it again changes nothing."""
    write("base.toml", '[advantage]\nuse = "gae"\nlam = 0.9\n')
    write("r.toml", 'extends = "base.toml"\n[advantage]\nuse = "gae"\ngamma = 0.5\n')
    assert values()["advantage"] == {"use": "gae", "lam": 0.9, "gamma": 0.5}


def test_lists_are_replaced_whole() -> None:
    """Two lists have no keys to merge by."""
    write("base.toml", '[[losses]]\nuse = "a"\n[[losses]]\nuse = "b"\n')
    write("r.toml", 'extends = "base.toml"\n[[losses]]\nuse = "c"\n')
    assert values()["losses"] == [{"use": "c"}]


def test_a_table_that_is_a_value_is_replaced_whole() -> None:
    """As a list is, or no entry could ever be taken away; by --set too, which reaches a single entry by its own key. A table that holds a
    component is laid over the one below key by key."""
    write("base.toml", '[rollout]\nuse = "tagged"\ntags = {search = "a", look = "b"}\ncorpus = {use = "jsonl", path = "x"}\n')
    write("r.toml", 'extends = "base.toml"\n[rollout]\ncorpus = {limit = 3}\n[rollout.tags]\ncalc = "c"\n')
    corpus = {"use": "jsonl", "path": "x", "limit": 3}
    assert values()["rollout"] == {"use": "tagged", "tags": {"calc": "c"}, "corpus": corpus}
    assert values('rollout.tags={sum = "d"}')["rollout"]["tags"] == {"sum": "d"}
    assert values("rollout={tags = {}}")["rollout"] == {"use": "tagged", "tags": {}, "corpus": corpus}
    assert values("rollout.tags.sum=d")["rollout"]["tags"] == {"calc": "c", "sum": "d"}


def test_every_value_knows_the_file_and_line_that_set_it() -> None:
    """So that problems and frozen copies can say it."""
    write("bases/base.toml", "\n[learn]\nepochs = 1\nminibatches = 1\n")
    write("r.toml", 'extends = "bases/base.toml"\n[learn]\nminibatches = 3\n')
    learn = read(Path("r.toml"), ["seed=1"])[0].value["learn"].value
    assert [learn[key].origin.place for key in ("epochs", "minibatches")] == ["bases/base.toml:3", "r.toml:3"]
    assert learn["epochs"].origin.folder == Path("bases")


def test_a_circle_of_parents_is_shown() -> None:
    """Not a recursion error."""
    write("a.toml", 'extends = "b.toml"\n')
    write("b.toml", '\nextends = "a.toml"\n')
    assert wrong(path="a.toml") == ["b.toml:2: extends: goes in a circle: a.toml → b.toml → a.toml"]


def test_a_missing_parent_is_told_where_it_is_named_with_the_nearest() -> None:
    """File, line and what was meant."""
    write("bases/small.toml", "")
    write("r.toml", '\nextends = "bases/smal.toml"\n')
    assert wrong() == [f"r.toml:2: bases/smal.toml: {NO_RECIPE}; did you mean 'bases/small.toml'? (jackfield recipes lists them)"]


def test_a_parent_may_be_named_as_on_the_command_line() -> None:
    """A recipe that comes with Jackfield, from wherever the child lies; a file of that name comes first."""
    write("mine/r.toml", 'extends = "grpo_sums"\nsteps = 3\n')
    assert values(path="mine/r.toml")["title"] == "GRPO on one-digit sums"
    assert values(path="mine/r.toml")["steps"] == 3
    write("mine/r.toml", 'extends = "gpro_sums"\n')
    (told,) = wrong(path="mine/r.toml")
    assert told == f"mine/r.toml:1: gpro_sums: {NO_RECIPE}; did you mean 'grpo_sums'? (jackfield recipes lists them)"
    write("mine/grpo_sums.toml", "")
    write("mine/r.toml", 'extends = "grpo_sums.tml"\n')
    assert "did you mean 'grpo_sums.toml'?" in wrong(path="mine/r.toml")[0]


def test_a_grid_is_no_recipe() -> None:
    """The message is what to do with it."""
    write("g.toml", '\ncells = ["grpo_sums"]\n')
    assert wrong(path="g.toml") == ["g.toml:2: cells: is a grid of recipes, not a recipe; run them with: jackfield compare g.toml"]


def test_there_is_one_parent() -> None:
    """A list of parents would need rules of precedence."""
    write("r.toml", 'extends = ["a.toml", "b.toml"]\n')
    assert wrong()[0].startswith("r.toml:1: extends: expected the path or name of one recipe, found [")


def test_from_takes_the_place_of_a_parents_path_and_the_other_way_round() -> None:
    """Weights come from one of the two; a child may choose the other."""
    write("base.toml", '[model]\nuse = "hf"\npath = "x"\ndtype = "float32"\n')
    write("r.toml", 'extends = "base.toml"\n[model]\nfrom = "sft.toml"\n')
    assert values()["model"] == {"use": "hf", "dtype": "float32", "from": "sft.toml"}
    assert values("model.path=y")["model"] == {"use": "hf", "dtype": "float32", "path": "y"}


# -------------------------------------------------------------------------------------------------------------- syntax


def test_a_syntax_error_names_file_and_line() -> None:
    """And the column."""
    write("recipes/r.toml", "steps = 1\ntasks = = 2\n")
    assert wrong(path="recipes/r.toml") == ["recipes/r.toml:2: not valid TOML: Invalid value (column 9)"]


@pytest.mark.parametrize("text", ["[losses]\n[losses]\n", "[losses]\n[[losses]]\n", "[[losses]]\n[losses]\n"])
def test_a_list_in_single_brackets_is_told_so(text: str) -> None:
    """To TOML it is a table defined twice."""
    write("r.toml", text)
    [told] = wrong()
    assert told.startswith("r.toml:2: not valid TOML: Cannot ")
    assert told.endswith("); losses is a list: write [[losses]] with double brackets, each time")


def test_a_file_that_ends_too_early_names_its_last_line() -> None:
    """tomllib gives no line then."""
    write("r.toml", "a = 1\nb = [1,\n2")
    assert wrong() == ["r.toml:3: not valid TOML: Unclosed array (at end of document)"]


def test_a_missing_recipe_is_a_problem() -> None:
    """One line, no traceback."""
    assert wrong(path="ppo_smal.toml") == ["ppo_smal.toml: no such recipe"]


def test_bytes_that_are_no_text_are_a_problem() -> None:
    """Not a traceback."""
    Path("r.toml").write_bytes(b'title = "\xff"')
    assert wrong()[0].startswith("r.toml: cannot be read: 'utf-8' codec can't decode byte 0xff")


# ----------------------------------------------------------------------------------------------------------- overrides


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("steps=3", 3),
        ("steps = 3", 3),
        ("steps=1e-3", 1e-3),
        ("steps=true", True),
        ('steps="3"', "3"),
        ("steps=three", "three"),
        ("steps=", ""),
        ("steps=[1, 2]", [1, 2]),
        ("steps={a = 1}", {"a": 1}),
        ("steps=a=b", "a=b"),
        ("steps=1\nseed=2", "1\nseed=2"),
    ],
)
def test_the_value_of_an_override_is_toml_or_else_text(override: str, expected: object) -> None:
    """Names and paths need no quotes."""
    write("r.toml", "steps = 1\n")
    found = values(override)["steps"]
    assert (found, type(found)) == (expected, type(expected))


def test_overrides_come_last_in_their_order_and_say_so() -> None:
    """The second of two on one key wins."""
    write("r.toml", "steps = 1\n")
    tree, _ = read(Path("r.toml"), ["steps=2", "steps=3"])
    assert (tree.value["steps"].value, tree.value["steps"].origin.place) == (3, "--set")


def test_an_override_reaches_into_lists_and_makes_tables() -> None:
    """Entries of lists are counted from 0."""
    write("r.toml", '[[losses]]\nuse = "a"\n[[losses]]\nuse = "b"\n')
    found = values("losses.1.weight=0.1", "learn.epochs=2")
    assert found["losses"] == [{"use": "a"}, {"use": "b", "weight": 0.1}]
    assert found["learn"] == {"epochs": 2}


def test_an_override_goes_on_below_a_component_that_is_only_named() -> None:
    """``losses = ["clip"]`` is short for a table."""
    write("r.toml", 'losses = ["clip"]\ndata = "rows"\n')
    found = values("losses.0.weight=2", "data.limit=3")
    assert (found["losses"], found["data"]) == ([{"use": "clip", "weight": 2}], {"use": "rows", "limit": 3})


def test_an_override_of_use_drops_the_other_keys() -> None:
    """As a child's does; the same name drops nothing."""
    write("r.toml", '[advantage]\nuse = "gae"\nlam = 0.9\n')
    assert values("advantage.use=group_norm")["advantage"] == {"use": "group_norm"}
    assert values("advantage.use=gae")["advantage"] == {"use": "gae", "lam": 0.9}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("steps", "--set: steps: expected KEY=VALUE, e.g. learn.epochs=2 or losses.0.weight=0.1"),
        ("learn..x=1", "--set: learn..x=1: expected KEY=VALUE, e.g. learn.epochs=2 or losses.0.weight=0.1"),
        ("losses.2.use=c", "--set: losses.2: losses is a list of 2 entries, counted from 0; choose from: losses.0, losses.1"),
        ("losses.b.use=c", "--set: losses.b: losses is a list of 2 entries, counted from 0; did you mean 'losses.1'?"),
        ("steps.x=1", "--set: steps.x: no such key: steps is 1, not a table"),
        ("extends=x.toml", "--set: extends: is only read from recipe files; extend it in a recipe of your own"),
    ],
)
def test_an_override_without_a_target_says_what_there_is(override: str, message: str) -> None:
    """Nearest valid choice included."""
    write("r.toml", 'steps = 1\n[[losses]]\nuse = "a"\n[[losses]]\nuse = "b"\n')
    assert wrong(override) == [message]


def test_all_overrides_without_a_target_are_told_at_once() -> None:
    """One correction, not three."""
    write("r.toml", "steps = 1\n")
    assert len(wrong("steps.x=1", "y", "trackers.9.use=1")) == 3


def test_a_tree_is_what_tomllib_read() -> None:
    """Nothing is lost on the way."""
    write("r.toml", "a = [[1, 2], [{b = []}]]\n")
    tree, _ = read(Path("r.toml"))
    assert isinstance(tree, Node)
    assert plain(tree)["a"] == [[1, 2], [{"b": []}]]
