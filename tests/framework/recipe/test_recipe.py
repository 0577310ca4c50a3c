"""Requirements, plugin files, observers, chains of recipes, and recipes in small."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path
from typing import Any

import attrs
import pytest

from jackfield import hookimpl
from jackfield.errors import Problem, RecipeError, UserError
from jackfield.plugins import Plugins, Source, load_plugins
from jackfield.recipe import load_recipe

MINE = """\
from __future__ import annotations
from attrs import frozen
from jackfield import hookimpl

@frozen(kw_only=True)
class Mine:
    unit = "token"
    def terms(self, batch): ...

@hookimpl
def jackfield_losses(register):
    register("mine", f"{__name__}:Mine", "My own loss.")
"""


# ------------------------------------------------------------------------------------------------ requires and plugins


def test_requirements_are_checked_against_what_is_installed(desk: Any) -> None:
    """Missing, too old, and not a requirement at all: each at its own line."""
    attrs_version = importlib.metadata.version("attrs")
    more = 'requires = [\n  "attrs>=1.0",\n  "attrs<1.0",\n  "jackfield-acme>=1.2",\n  "what is this",\n]'
    *unmet, malformed = desk.problems(lambda: desk.sound(more))
    assert unmet == [
        f"r.toml:13: requires: needs attrs<1.0, found attrs {attrs_version}; pip install 'attrs<1.0'",
        "r.toml:14: requires: needs jackfield-acme>=1.2, which is not installed; pip install 'jackfield-acme>=1.2'",
    ]
    assert malformed.startswith("r.toml:15: requires: 'what is this' is not a requirement like 'jackfield-acme>=1.2': ")
    desk.sound('requires = ["attrs>=1.0", "nothing-like-it; python_version < \'3\'"]')


def test_a_plugin_file_of_the_recipe_offers_its_components(desk: Any) -> None:
    """Relative to the recipe that names it; read once, however many recipes name it."""
    desk.plugins = _with_fakes()
    desk.write(MINE, "hooks/mine.py")
    desk.write('plugins = ["mine.py"]', "hooks/base.toml")
    more = 'extends = "hooks/base.toml"\nlosses = ["mine:mine"]'
    for _ in range(2):
        recipe = desk.sound(more, without=["losses"])
    assert type(recipe.corridor.losses[0].part).__name__ == "Mine"
    assert recipe.frozen["plugins"] == [str(Path.cwd() / "hooks/mine.py")]
    assert recipe.frozen["versions"]["mine"] == "a local file"


def test_what_is_wrong_with_a_plugin_file_is_told_at_the_line_that_names_it(desk: Any) -> None:
    """Missing, or broken."""
    desk.plugins = _with_fakes()
    desk.write("1 / 0", "broken.py")
    problems = desk.problems(lambda: desk.sound('plugins = ["broken.py", "missing.py"]'))
    assert problems[0].startswith("r.toml:11: plugins: plugin 'broken' (")
    assert problems[0].endswith("ZeroDivisionError: division by zero")
    assert problems[1].startswith("r.toml:11: plugins: missing.py: ")


def test_the_text_of_a_plugin_file_enters_the_digest(desk: Any) -> None:
    """Results depend on it, wherever the file lies."""
    digests = []
    for folder, text in [("a", MINE), ("b", MINE), ("c", MINE + "# another\n")]:
        desk.plugins = _with_fakes()
        desk.write(text, f"{folder}/mine.py")
        digests.append(desk.sound(f'plugins = ["{folder}/mine.py"]\nlosses = ["mine"]', without=["losses"]).digest)
    assert digests[0] == digests[1] != digests[2]


def test_the_text_of_a_plugin_file_of_the_command_line_enters_the_digest(desk: Any) -> None:
    """If it brought a component of the recipe; one that only stands by does not count."""
    digests = []
    for text, losses in [(MINE, "mine"), (MINE + "# another\n", "mine"), (MINE, "clip"), (MINE + "# another\n", "clip")]:
        desk.plugins = _with_fakes()
        desk.write(text, "mine.py")
        desk.plugins.add_file("mine.py")
        digests.append(desk.sound(f'losses = ["{losses}"]', without=["losses"]).digest)
    assert digests[0] != digests[1]
    assert digests[2] == digests[3]


def test_the_content_of_a_file_that_a_component_names_enters_the_digest(desk: Any) -> None:
    """Rows, functions: what results depend on; a file that is not there yet, and a folder, do not."""
    digest = lambda: desk.sound('data = {use = "rows", file = "rows.jsonl"}', without=["data"]).digest  # noqa: E731
    without = digest()
    Path("rows.jsonl").mkdir()
    assert digest() == without
    Path("rows.jsonl").rmdir()
    desk.write("{}", "rows.jsonl")
    with_one = digest()
    assert with_one != without
    desk.write("{}\n{}", "rows.jsonl")
    assert digest() not in (without, with_one)
    desk.write("{}", "rows.jsonl")
    assert digest() == with_one


def test_a_large_file_is_known_by_size_and_time(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recipe is read at once, whatever it names."""
    monkeypatch.setattr("jackfield.recipe.freeze.LARGE", 1)
    digest = lambda: desk.sound('data = {use = "rows", file = "rows.jsonl"}', without=["data"]).digest  # noqa: E731
    file = desk.write("{}", "rows.jsonl")
    first = digest()
    os.utime(file, ns=(0, 1))
    assert digest() != first
    os.utime(file, ns=(0, 2))
    second = digest()
    file.write_text("[]")
    os.utime(file, ns=(0, 2))
    assert digest() == second


def test_observers_may_refuse_a_sound_recipe_and_all_are_heard(desk: Any) -> None:
    """Hook ``jackfield_check``."""

    class Refusing:
        def __init__(self, *problems: Problem | str) -> None:
            self.problems = problems

        @hookimpl
        def jackfield_check(self, recipe: Any) -> None:
            assert recipe.corridor.run.steps == 10
            raise UserError([Problem("", "", problem) if isinstance(problem, str) else problem for problem in self.problems])

    desk.plugins = _with_fakes()
    desk.plugins.add(Source(name="zeal", value="zeal"), lambda: Refusing(Problem("r.toml:2", "steps", "too few")))
    desk.plugins.add(Source(name="acme", value="acme"), lambda: Refusing("no", "never"))
    assert desk.problems(lambda: desk.sound()) == ["plugin 'acme': no", "plugin 'acme': never", "r.toml:2: steps: too few"]
    assert "unknown" in desk.problems(lambda: desk.sound("a = 1"))[0]  # not asked about an unsound one


# -------------------------------------------------------------------------------------------------------------- chains

CHAINED = '[model]\nuse = "hf"\nfrom = "sft/sft.toml"'


def _write_parent(desk: Any, more: str = "") -> None:
    lines = (
        'title = "sft"\nsteps = 1\ntasks_per_step = 1\ndata = "rows"\nrollout = "chat"\nadvantage = "constant"\nlosses = ["clip"]\n'
    )
    desk.write(f'{lines}\n{more}\n[model]\nuse = "hf"\npath = "start"\n', "sft/sft.toml")


def test_weights_may_come_from_another_recipe(desk: Any) -> None:
    """Then no path is asked for, until the folder of its checkpoint is known; all other keys are this recipe's own."""
    _write_parent(desk)
    recipe = desk.sound(f'{CHAINED}\ndtype = "bfloat16"', without=["model"])
    assert recipe.chained["model"].path == Path.cwd() / "sft/sft.toml"
    assert recipe.chained["model"].corridor.model.path == "start"
    ready = recipe.with_model_path(Path("runs/sft/model"))
    assert attrs.asdict(ready.corridor.model) == {"path": "runs/sft/model", "dtype": "bfloat16"}
    assert ready.digest == recipe.digest
    assert desk.sound().chained == {}


def test_rewards_and_the_critic_may_come_from_another_recipe(desk: Any) -> None:
    """They get the folder of its checkpoint as their path; the digest is that recipe's, and the frozen copy holds it too."""
    _write_parent(desk)
    lines = (
        '[critic]\nuse = "head"\nfrom = "sft/sft.toml"\n[advantage]\nuse = "gae"\n'
        '[[rewards]]\nuse = "exact"\ngate = true\n[[rewards]]\nuse = "rm"\nfrom = "sft/sft.toml"\nweight = 0.5'
    )
    recipe = desk.sound(lines, without=["rewards", "advantage"])
    assert sorted(recipe.chained) == ["critic", "rewards.1"]
    ready = recipe.with_checkpoint("critic", Path("runs/a")).with_checkpoint("rewards.1", Path("runs/b"))
    assert (ready.corridor.critic.path, ready.corridor.rewards[1].part.path) == ("runs/a", "runs/b")
    assert [(r.name, r.weight, r.gate) for r in ready.corridor.rewards] == [("exact", 1.0, True), ("rm", 0.5, False)]
    assert ready.corridor.model == recipe.corridor.model
    recipe.write_frozen(Path("run"))
    again = load_recipe(Path("run/recipe.toml"), desk.plugins)
    assert again.digest == recipe.digest
    assert sorted(again.chained) == ["critic", "rewards.1"]
    _write_parent(desk, "seed = 5")
    assert desk.sound(lines, without=["rewards", "advantage"]).digest != recipe.digest


def test_problems_of_the_other_recipe_stand_at_their_own_places(desk: Any) -> None:
    """Beside those of this one."""
    _write_parent(desk, "stpes = 1")
    assert desk.problems(lambda: desk.sound(f"{CHAINED}\ndytpe = 1", without=["model"])) == [
        "r.toml:13: model.dytpe: unknown key; did you mean 'dtype'?",
        "sft/sft.toml:9: stpes: unknown key; did you mean 'steps'?",
    ]


def test_a_missing_recipe_is_told_where_it_is_named(desk: Any) -> None:
    """With the nearest that is there."""
    desk.write("", "sft/sfft.toml")
    (told,) = desk.problems(lambda: desk.sound(CHAINED, without=["model"]))
    assert told.startswith("r.toml:12: sft/sft.toml: no such recipe file")
    assert "; did you mean 'sft/sfft.toml'? (" in told


def test_weights_have_one_source(desk: Any) -> None:
    """Nothing is accepted and unused (C4)."""
    _write_parent(desk)
    assert desk.problems(lambda: desk.sound(f'{CHAINED}\npath = "x"', without=["model"])) == [
        "r.toml:13: model.path: the weights come from the recipe named by 'from'; keep one of the two"
    ]


def test_a_model_without_a_path_cannot_take_weights(desk: Any) -> None:
    """Not from a recipe."""
    _write_parent(desk)
    more = '[model]\nuse = "pathless"'
    assert desk.problems(lambda: desk.sound(f'{more}\nfrom = "sft/sft.toml"', without=["model"])) == [
        "r.toml:12: model.from: Pathless has no key 'path' to take weights of another recipe from"
    ]


def test_a_circle_of_recipes_is_shown(desk: Any) -> None:
    """Not a recursion error."""
    assert desk.problems(lambda: desk.sound('[model]\nuse = "hf"\nfrom = "r.toml"', without=["model"])) == [
        "r.toml:12: model.from: goes in a circle: r.toml → r.toml"
    ]


def test_from_is_a_path_or_a_name(desk: Any) -> None:
    """Typed like any other key; a name is that of a recipe that comes with Jackfield, as on the command line."""
    assert desk.problems(lambda: desk.sound('[model]\nuse = "hf"\nfrom = 3', without=["model"])) == [
        "r.toml:12: model.from: expected the path or name of a recipe, found 3"
    ]


def test_weights_may_come_from_a_recipe_that_comes_along(desk: Any) -> None:
    """By its name, as on the command line."""
    desk.plugins = load_plugins(environ={})
    path = desk.write('extends = "reinforce"\ntitle = "t"\n[model]\nfrom = "grpo_sums"\n', "mine/r.toml")
    assert load_recipe(path, desk.plugins).chained["model"].corridor.run.title == "GRPO on one-digit sums"
    path.write_text('extends = "reinforce"\ntitle = "t"\n[model]\nfrom = "gpro_sums"\n')
    (told,) = desk.problems(lambda: load_recipe(path, desk.plugins))
    assert told.startswith("mine/r.toml:4: gpro_sums: no such recipe file")
    assert "did you mean 'grpo_sums'?" in told


def test_the_digest_covers_the_other_recipe_but_not_where_it_lies(desk: Any) -> None:
    """Another warm start gives another model; the same one moved does not."""
    _write_parent(desk)
    first = desk.sound(CHAINED, without=["model"]).digest
    Path("sft/sft.toml").rename("sft/moved.toml")
    assert desk.sound(CHAINED.replace("sft/sft", "sft/moved"), without=["model"]).digest == first
    _write_parent(desk, "seed = 1")
    assert desk.sound(CHAINED, without=["model"]).digest != first
    _write_parent(desk, "evaluate = {enabled = false}")
    assert desk.sound(CHAINED, without=["model"]).digest == first


# --------------------------------------------------------------------------------------------------------------- smoke


def test_a_recipe_in_small_keeps_its_parts_and_shrinks_its_numbers(desk: Any, fake_plugins: Plugins) -> None:
    """Two steps, stand-in tasks and passages, no evaluation in between; what is small already stays."""
    path = desk.write(
        'title = "big"\nsteps = 500\ntasks_per_step = 512\ngroup_size = 3\nmodel = {use = "hf", path = "w"}\nrollout = "chat"\n'
        'data = {use = "rows", limit = 3}\ntools = [{use = "search", top_k = 9}]\nrewards = ["exact"]\nadvantage = "group_norm"\n'
        'losses = ["clip"]\n[learn]\nepochs = 3\nminibatches = 16\n[evaluate]\nevery = 100\n[checkpoint]\nevery = 50\n'
    )
    small = load_recipe(path, fake_plugins, smoke=True).corridor
    assert (small.run.steps, small.run.tasks_per_step, small.run.group_size) == (2, 2, 3)
    assert (small.learn.epochs, small.learn.minibatches, small.evaluate.every, small.checkpoint.every) == (3, 2, 0, 0)
    assert (small.data.limit, small.tools[0].part.top_k) == (None, 3)


def test_a_recipe_in_small_keeps_data_that_needs_nothing(desk: Any, fake_plugins: Plugins) -> None:
    """Generated tasks are the recipe's own, with their keys; whether the table is written out or the name alone."""
    desk.sound('data = {use = "generated", limit = 7}', without=["data"])
    assert load_recipe(Path("r.toml"), fake_plugins, smoke=True).corridor.data.limit == 7
    desk.sound('data = "generated"', without=["data"])
    assert load_recipe(Path("r.toml"), fake_plugins, smoke=True).corridor.data.limit == 1


@pytest.mark.parametrize("rollout", ['"chat"', '{use = "chat", max_new_tokens = 64}', '{use = "chat", max_new_tokens = 9}'])
def test_a_recipe_in_small_has_turns_of_one_length(desk: Any, fake_plugins: Plugins, rollout: str) -> None:
    """A random model writes until its budget ends, and the stand-in's recorded turns must fit: written or default, 48."""
    desk.sound(f"rollout = {rollout}", without=["rollout"])
    assert load_recipe(Path("r.toml"), fake_plugins, smoke=True).corridor.environment.max_new_tokens == 48


@pytest.mark.parametrize(("limit", "tokens"), [(9, 8 * 9), (5, 48)])
def test_a_recipe_in_small_has_room_for_recorded_turns_in_bytes(desk: Any, fake_plugins: Plugins, limit: int, tokens: int) -> None:
    """They are played whole, the recipe's own and the stand-in's."""
    desk.sound(f'rollout = {{use = "chat", max_new_tokens = {limit}}}\nengine = "recorded"', without=["rollout", "engine"])
    assert load_recipe(Path("r.toml"), fake_plugins, smoke=True).corridor.environment.max_new_tokens == tokens


@pytest.mark.parametrize(("rollout", "tokens"), [('"chat"', 8 * 600), ('{use = "chat", max_tokens = 100}', 800)])
def test_a_recipe_in_small_has_room_for_prompts_in_bytes(desk: Any, fake_plugins: Plugins, rollout: str, tokens: int) -> None:
    """The tiny model's tokens are bytes: a budget of tokens that holds a prompt holds it there too."""
    desk.sound(f"rollout = {rollout}", without=["rollout"])
    assert load_recipe(Path("r.toml"), fake_plugins, smoke=True).corridor.environment.max_tokens == tokens


@pytest.mark.parametrize(("override", "gate"), [("seed=1", False), ("rewards.0.gate=true", True)])
def test_a_recipe_in_small_has_open_gates(desk: Any, fake_plugins: Plugins, override: str, gate: bool) -> None:
    """A random model passes none, and would earn nothing. What is set stays."""
    desk.sound('rewards = [{use = "exact", gate = true}, "format"]', without=["rewards"])
    small = load_recipe(Path("r.toml"), fake_plugins, [override], smoke=True).corridor
    assert [(named.name, named.gate) for named in small.rewards] == [("exact", gate), ("format", False), ("smoke", False)]


def test_recorded_attempts_in_small_are_judged_as_ever(desk: Any, fake_plugins: Plugins) -> None:
    """They earn what they earned, also from a random model: nothing is added to labels that a loss reads."""
    desk.sound('engine = "recorded"\nrewards = ["exact"]', without=["engine", "rewards"])
    small = load_recipe(Path("r.toml"), fake_plugins, smoke=True).corridor
    assert [named.name for named in small.rewards] == ["exact"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("steps", 20),
        ("tasks_per_step", 3),
        ("group_size", 5),
        ("learn.minibatches", 6),
        ("rollout.max_new_tokens", 7),
        ("rollout.max_tokens", 500),
        ("evaluate.every", 5),
        ("evaluate.tasks", 0),
        ("checkpoint.every", 4),
    ],
)
def test_what_is_set_stays_in_small(desk: Any, fake_plugins: Plugins, key: str, value: int) -> None:
    """--set is the user's last word; what it does not name is small as ever."""
    path = desk.write(SMALL_ENOUGH)
    small = load_recipe(path, fake_plugins, [f"{key}={value}"], smoke=True)
    found = {name: _at(small.frozen, name) for name in SMALL}
    assert found == SMALL | {key: value}
    assert small.frozen["origins"][key] == "--set"


SMALL_ENOUGH = (
    'title = "big"\nsteps = 500\ntasks_per_step = 512\ngroup_size = 8\nmodel = {use = "hf", path = "w"}\nrollout = "chat"\ndata = "rows"\n'
    'tools = ["search"]\nrewards = ["exact", "far"]\nadvantage = "group_norm"\nlosses = ["clip"]\nlearn = {minibatches = 16}\n'
)
SMALL = {
    "steps": 2,
    "tasks_per_step": 2,
    "group_size": 4,
    "learn.minibatches": 2,
    "rollout.max_new_tokens": 48,
    "rollout.max_tokens": 4800,
    "evaluate.every": 0,
    "evaluate.tasks": 2,
    "checkpoint.every": 0,
}


def _at(table: Any, name: str) -> Any:
    for key in name.split("."):
        table = table[key]
    return table


@pytest.mark.parametrize(
    ("override", "data", "corpus", "rewards"),
    [
        ("seed=1", "smoke", "smoke", ["exact", "smoke"]),
        ("data.limit=5", "rows", "smoke", ["exact", "smoke"]),
        ("data=rows", "rows", "smoke", ["exact", "smoke"]),
        ("tools.0.top_k=1", "smoke", "passages", ["exact", "smoke"]),
        ("rewards.0.scale=2", "smoke", "smoke", ["exact", "smoke"]),
        ("rewards.1.scale=2", "smoke", "smoke", ["exact", "far", "smoke"]),
        ('rewards=["far"]', "smoke", "smoke", ["far", "smoke"]),
    ],
)
def test_what_is_set_of_a_component_keeps_it_in_small(
    desk: Any, fake_plugins: Plugins, override: str, data: str, corpus: str, rewards: list[str]
) -> None:
    """Data, a tool or a reward of which anything is set is the recipe's own, whatever it takes to have it."""
    frozen = load_recipe(desk.write(SMALL_ENOUGH), fake_plugins, [override], smoke=True).frozen
    assert (frozen["data"]["use"], frozen["tools"][0]["corpus"]["use"]) == (f"fakes:{data}", f"fakes:{corpus}")
    assert [reward["use"] for reward in frozen["rewards"]] == [f"fakes:{name}" for name in rewards]


def test_a_recipe_in_small_starts_from_a_tiny_model(desk: Any, fake_plugins: Plugins) -> None:
    """Its own, or the one that the recipe before it leaves."""
    _write_parent(desk)
    desk.sound()
    assert load_recipe(Path("r.toml"), fake_plugins, smoke=True).corridor.model.path == "tiny"
    desk.sound(CHAINED, without=["model"])
    chained = load_recipe(Path("r.toml"), fake_plugins, smoke=True)
    assert chained.chained["model"].corridor.model.path == "tiny"
    assert chained.with_model_path(Path("left/here")).corridor.model.path == "left/here"


def test_an_unsound_recipe_is_not_run_in_small(desk: Any, fake_plugins: Plugins) -> None:
    """Smoke runs hide no mistake."""
    path = desk.write('title = "x"\nstep = 1\n')
    with pytest.raises(RecipeError, match=r"r.toml:2: step: unknown key; did you mean 'steps'?"):
        load_recipe(path, fake_plugins, smoke=True)


def _with_fakes() -> Plugins:
    plugins = Plugins()
    plugins.add_file(Path(__file__).with_name("fakes.py"))
    return plugins
