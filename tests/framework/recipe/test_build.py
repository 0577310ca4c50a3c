"""Keys to typed values, names to components, and every problem at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jackfield.plugins import load_plugins
from jackfield.recipe import load_recipe


def test_the_shortest_recipe_builds_a_corridor(desk: Any) -> None:
    """Components constructed from their names alone; settings and defaults filled in."""
    corridor = desk.sound().corridor
    assert (corridor.run.title, corridor.run.steps, corridor.run.seed) == ("a test", 10, 0)
    assert corridor.model.path == "weights"
    assert corridor.engine.threads == 1
    assert corridor.critic is None
    assert [(loss.name, loss.weight, loss.part.clip_low) for loss in corridor.losses] == [("clip", 1.0, 0.2)]
    assert [tracker.name for tracker in corridor.trackers] == ["console", "metrics_jsonl", "rollouts_jsonl"]
    assert corridor.data.file == Path.cwd() / "rows.jsonl"


def test_every_problem_is_told_at_once_with_its_line_and_the_nearest_name(desk: Any) -> None:
    """One correction of the file, not one a run (C4: nothing is accepted and unused)."""
    text = """\
title = 3
stpes = 10
tasks_per_step = 4
[model]
use = "hff"
[data]
use = "rows"
[rollout]
use = "chat"
greetign = "hi"
[advantage]
use = "gae"
lam = 1.5
gamma = -1
[critic]
use = "head"
[[losses]]
use = "clip"
clip_epz = 0.2
[[rewards]]
use = "exact"
[learn]
epochs = 0
[smapling]
temperature = 1
"""
    assert desk.problems(lambda: desk.load(text, "learn.minibatches=x")) == [
        '--set: learn.minibatches: expected int, found "x"',
        "r.toml:1: title: expected a string, found 3",
        "r.toml:2: stpes: unknown key; did you mean 'steps'?",
        "r.toml:5: model.use: 'hff' is unknown among models; did you mean 'hf'?",
        "r.toml:10: rollout.greetign: unknown key; did you mean 'greeting'?",
        "r.toml:13: advantage.lam: must lie between 0 and 1, found 1.5",
        "r.toml:14: advantage.gamma: must lie between 0 and 1, found -1.0",
        "r.toml:19: losses.0.clip_epz: unknown key; did you mean 'clip_low'?",
        "r.toml:23: learn.epochs: must be at least 1, found 0",
        "r.toml:24: smapling: unknown key; did you mean 'sampling'?",
    ]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("steps=2.7", "steps: expected int, found 2.7"),
        ("steps=true", "steps: expected int, found true"),
        ('steps="3"', 'steps: expected int, found "3"'),
        ('sampling.temperature="high"', 'sampling.temperature: expected float, found "high"'),
        ("sampling.temperature=true", "sampling.temperature: expected float, found true"),
        ('rollout={use="chat", polite="no"}', 'rollout.polite: expected true or false, found "no"'),
        ('rollout={use="chat", polite=0}', "rollout.polite: expected true or false, found 0"),
        ("title=1979-05-27", "title: expected a string, found 1979-05-27"),
        ("title={a=1}", "title: expected a string, found a table with a"),
        ('model.dtype="float23"', "model.dtype: \"float23\" is not a choice; did you mean 'float32'?"),
        ('learn.fixed_length="long"', 'learn.fixed_length: expected int, found "long"'),
        ('data={use="rows", file=3}', "data.file: expected a path as a string, found 3"),
        ('data={use="rows", columns=3}', "data.columns: expected a table, each value a string, found 3"),
        ('data={use="rows", columns={a=1, b="x"}}', "data.columns.a: expected a string, found 1"),
        ("learn=3", "learn: expected a table [learn]"),
        ("data=3", "data: expected a name, or a table with `use = …`"),
        ("data={use=3}", "data.use: required: the name of a component; choose from: generated, rows, smoke"),
        ("data={limit=3}", "data.use: required: the name of a component; choose from: generated, rows, smoke"),
        ("losses=3", "losses: expected a list: write --set 'losses=[\"…\"]', one for each"),
        ('data=["rows"]', "data: expected a name, or a table with `use = …`"),
        ("losses.0={use='clip', weight='much'}", 'losses.0.weight: expected float, found "much"'),
    ],
)
def test_values_are_typed_strictly(desk: Any, override: str, message: str) -> None:
    """Nothing is rounded, parsed or guessed."""
    assert desk.problems(lambda: desk.sound("", override)) == [f"--set: {message}"]


def test_an_int_is_fine_for_a_float_and_becomes_one(desk: Any) -> None:
    """``temperature = 1`` says the same as ``1.0``."""
    temperature = desk.sound("[sampling]\ntemperature = 1").corridor.sampling.temperature
    assert (temperature, type(temperature)) == (1.0, float)


def test_elements_of_arrays_are_told_at_their_own_line(desk: Any) -> None:
    """Not at the array's."""
    more = '[[tools]]\nuse = "search"\n[tools.corpus]\nuse = "passages"\nshards = [\n  "a",\n  2,\n]\nsize = 1.5'
    assert desk.problems(lambda: desk.sound(more)) == [
        "r.toml:17: tools.0.corpus.shards.1: expected a path as a string, found 2",
        "r.toml:19: tools.0.corpus.size: expected int or 'all', found 1.5",
    ]


def test_paths_are_relative_to_the_file_that_wrote_them(desk: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A parent's to the parent's folder, a child's to the child's, an override's to the working directory; ~ is the home."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    desk.write('data = {use = "rows", file = "mine.jsonl"}', "bases/base.toml")
    extending = 'extends = "bases/base.toml"\n'
    assert desk.load(extending + _without_data()).corridor.data.file == tmp_path / "bases" / "mine.jsonl"
    assert desk.load(extending + _without_data(), "data.file=../x.jsonl").corridor.data.file == tmp_path.parent / "x.jsonl"
    assert desk.load(extending + _without_data(), "data.file=~/x.jsonl").corridor.data.file == tmp_path / "home" / "x.jsonl"


def _without_data() -> str:
    return (
        'title = "a test"\nsteps = 1\ntasks_per_step = 4\ngroup_size = 2\nmodel = {use = "hf", path = "w"}\nrollout = "chat"\n'
        'rewards = ["exact"]\nadvantage = "group_norm"\nlosses = ["clip"]\n'
    )


# ---------------------------------------------------------------------------------------------------------- components


@pytest.mark.parametrize(
    "tool",
    [
        '"search"',
        '{use = "search"}',
        '{use = "search", corpus = "passages"}',
        '{use = "fakes:search", corpus = {use = "fakes:passages"}}',
    ],
)
def test_a_part_is_a_name_or_a_table_and_has_a_default(desk: Any, tool: str) -> None:
    """All ways to write the same."""
    corpus = desk.sound(f"tools = [{tool}]").corridor.tools[0].part.corpus
    assert (type(corpus).__name__, corpus.size) == ("Passages", "all")


def test_keys_of_a_part_are_typed_like_any_other(desk: Any) -> None:
    """``use`` may be left out where the part has a default."""
    assert desk.sound("tools = [{use = 'search', corpus = {size = 3}}]").corridor.tools[0].part.corpus.size == 3
    assert desk.problems(lambda: desk.sound("tools = [{use = 'search', corpus = 'pasages'}]")) == [
        "r.toml:11: tools.0.corpus.use: 'pasages' is unknown among corpora; did you mean 'passages'?"
    ]


def test_what_is_missing_is_told_with_the_choices(desk: Any) -> None:
    """At the recipe's first line, for there is no other."""
    losses = [entry.name for entry in desk.plugins.registries["losses"].entries]
    assert desk.problems(lambda: desk.sound(without=["data", "losses", "title"])) == [
        "r.toml:1: title: required: one line that names the run",
        "r.toml:1: data: required: a table [data] with `use = …`; choose from: generated, rows, smoke",
        f"r.toml:1: losses: required: at least one [[losses]] with `use = …`; choose from: {', '.join(sorted(losses))}",
    ]


def test_a_required_key_is_told_with_its_help_at_its_table(desk: Any) -> None:
    """No default for what the user must decide."""
    assert desk.problems(lambda: desk.sound('[model]\nuse = "hf"', without=["model"])) == [
        "r.toml:10: model.path: required: folder or hub id"
    ]


def test_what_the_class_itself_refuses_is_told_at_the_component(desk: Any) -> None:
    """A check of several keys together; at the line of the key it names, if there is one."""
    assert desk.problems(lambda: desk.sound('[[losses]]\nuse = "clip"\nclip_low = 0.3', without=["losses"])) == [
        "r.toml:11: losses.0: clip_high: must not be below clip_low"
    ]
    assert desk.problems(lambda: desk.sound('[[losses]]\nuse = "clip"\n\nclip_high = 0.1', without=["losses"])) == [
        "r.toml:13: losses.0.clip_high: must not be below clip_low"
    ]


def test_names_in_metrics_are_bare_and_counted(desk: Any) -> None:
    """However the recipe spells them, so that a frozen copy gives the same."""
    rewards = desk.sound('rewards = ["exact", "fakes:exact", "format", "exact"]', without=["rewards"]).corridor.rewards
    assert [reward.name for reward in rewards] == ["exact", "exact#2", "format", "exact#3"]


def test_only_rewards_and_losses_have_a_weight(desk: Any) -> None:
    """A weight of a penalty or tool would be accepted and unused (C4)."""
    corridor = desk.sound("", "losses.0.weight=0.5", "rewards.0={use='exact', weight=2}").corridor
    assert (corridor.losses[0].weight, corridor.rewards[0].weight) == (0.5, 2.0)
    assert desk.problems(lambda: desk.sound('penalties = [{use = "kl", weight = 1}]')) == [
        "r.toml:11: penalties.0.weight: unknown key; choose from: use"
    ]


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ("weighty", "losses.0: Weighty has a field 'weight', which is the core's own key here"),
        ("not_attrs", "losses.0.use: {}:NotAttrs is not an attrs class, so it cannot be a component"),
        ("untypable", "losses.0.ratio: Untypable cannot be used in recipes: a recipe cannot hold a <class 'complex'>"),
    ],
)
def test_a_class_that_recipes_cannot_use_is_told_to_its_writer(desk: Any, loss: str, message: str) -> None:
    """A clean message, at the line that names it."""
    module = next(iter(desk.plugins.loaded)).entries[0].target.partition(":")[0]
    problems = desk.problems(lambda: desk.sound(f'losses = ["{loss}"]', without=["losses"]))
    assert problems == [f"r.toml:10: {message.format(module)}"]


# -------------------------------------------------------------------------------------------------------- unknown keys


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("[sampling]\ntop_p = 0.9",
         "r.toml:12: sampling.top_p: not offered: truncated sampling changes the distribution that log-probs refer to; use temperature"),
        ("[learn]\ngroup_size = 2", "r.toml:12: learn.group_size: unknown key; 'group_size' belongs at the top, before the first table"),
        ("temperature = 2", "r.toml:11: temperature: unknown key; 'temperature' belongs in [sampling]"),
        ("[evaluate]\nevrey = 2", "r.toml:12: evaluate.evrey: unknown key; did you mean 'every'?"),
        ("[los]\na = 1", "r.toml:11: los: unknown key; did you mean 'losses'?"),
        ("[critics]\na = 1", "r.toml:11: critics: unknown key; did you mean 'critic'?"),
        ("top_p = 0.9",
         "r.toml:11: top_p: not offered: truncated sampling changes the distribution that log-probs refer to; use temperature"),
        ("lr = 1", "r.toml:11: lr: unknown key; 'lr' belongs in [optimizer]"),
        ("[learn]\nclip_low = 1", "r.toml:12: learn.clip_low: unknown key; 'clip_low' belongs in [[losses]] with `use = \"clip\"`"),
        ("weight = 1", "r.toml:11: weight: unknown key; 'weight' belongs in [[rewards]] or in [[losses]]"),
        ("lam = 1", "r.toml:11: lam: unknown key; 'lam' is a key of advantages.gae"),
        ("[[rewards2]]", "r.toml:11: rewards2: unknown key; did you mean 'rewards'?"),
        ("[gae]\nlam = 1", "r.toml:11: gae: unknown key; 'gae' is a component: write [advantage] with `use = \"gae\"`"),
        ("[environment]\nuse = 'chat'", "r.toml:11: environment: unknown key; environments stand in [rollout]"),
        ("[generation]\ntemperature = 1\ngreeting = 'hi'\nx = 1",
         "r.toml:11: generation: unknown table; 'temperature' belongs in [sampling], 'greeting' belongs in [rollout]"),
        ("[[tools]]\nuse = 'search'\nlr = 1", "r.toml:13: tools.0.lr: unknown key; 'lr' belongs in [optimizer]"),
        ("[[tools]]\nuse = 'search'\n[tools.corpus]\nuse = 'passages'\n[sampling]\nshards = 1",
         "r.toml:16: sampling.shards: unknown key; 'shards' belongs in [[tools]] corpus with `use = \"passages\"`"),
    ],
)  # fmt: skip
def test_no_key_is_accepted_and_unused(desk: Any, more: str, message: str) -> None:
    """C4, at every level; a key of another table is sent there."""
    assert desk.problems(lambda: desk.sound(more)) == [message]


def test_a_key_of_another_component_of_its_kind_is_told_as_such(desk: Any) -> None:
    """Beside the nearest of its own."""
    rollout = '[rollout]\nuse = "searching"\n'
    assert desk.problems(lambda: desk.sound(f"{rollout}greeting = 1", without=["rollout"])) == [
        "r.toml:12: rollout.greeting: unknown key; 'greeting' is a key of environments.chat"
    ]
    assert desk.problems(lambda: desk.sound('[data]\nuse = "generated"\nlimits = 1\nfile = "x"', without=["data"])) == [
        "r.toml:12: data.limits: unknown key; did you mean 'limit'?",
        "r.toml:13: data.file: unknown key; 'file' is a key of data.rows and data.smoke",
    ]


# ------------------------------------------------------------------------------------------------ one mistake, one message


@pytest.mark.parametrize(
    ("key", "instead", "message"),
    [
        ("steps", "stpes = 10", "r.toml:10: stpes: unknown key; did you mean 'steps'?"),
        ("model", '[modle]\nuse = "hf"\npath = "x"', "r.toml:10: modle: unknown key; did you mean 'model'?"),
        ("model", '[model]\nuse = "hf"\npth = "x"', "r.toml:12: model.pth: unknown key; did you mean 'path'?"),
        ("model", '[[model]]\nuse = "hf"', "r.toml:10: model: expected one table: write [model] with single brackets"),
        ("rollout", '[environment]\nuse = "chat"', "r.toml:10: environment: unknown key; environments stand in [rollout]"),
        ("rewards", '[rewards]\nuse = "exact"', "r.toml:10: rewards: expected a list: write [[rewards]] with double brackets, one for each"),
        ("rewards", '[[reward]]\nuse = "exact"', "r.toml:10: reward: unknown key; did you mean 'rewards'?"),
        ("losses", '[losses]\nuse = "clip"', "r.toml:10: losses: expected a list: write [[losses]] with double brackets, one for each"),
        ("losses", '[[loss]]\nuse = "clip"', "r.toml:10: loss: unknown key; did you mean 'losses'?"),
        ("advantage", '[group_norm]',
         "r.toml:10: group_norm: unknown key; 'group_norm' is a component: write [advantage] with `use = \"group_norm\"`"),
        ("advantage", 'advantage = "gae"\n[critc]\nuse = "head"', "r.toml:11: critc: unknown key; did you mean 'critic'?"),
        ("rollout", 'rollout = "searching"\n[[tool]]\nuse = "search"', "r.toml:11: tool: unknown key; did you mean 'tools'?"),
        ("", "[[learn]]\nepochs = 2", "r.toml:11: learn: expected one table: write [learn] with single brackets"),
        ("", "[learn]\nfixed_length = 0",
         'r.toml:12: learn.fixed_length: is only used by aggregation = "fixed_length", and aggregation is "token_mean"; remove it'),
    ],
)  # fmt: skip
def test_what_only_repeats_a_mistake_is_not_told(desk: Any, key: str, instead: str, message: str) -> None:
    """A table, list or key written under a wrong name or in the wrong brackets is not missing too."""
    assert desk.problems(lambda: desk.sound(instead, without=[key])) == [message]


def test_a_key_written_in_the_wrong_place_is_not_missing_in_the_right_one(desk: Any) -> None:
    """Nor is a required key of a table that stands by default under a misspelt name."""
    desk.plugins = load_plugins(environ={})
    recipe = (
        'title = "t"\nsteps = 1\ntasks_per_step = 1\nmodel = "tiny_random"\ndata = "sums"\nrewards = ["last_number"]\n'
        'rollout = {use = "single_turn", max_new_tokens = 8}\nadvantage = "running_baseline"\nlosses = ["reinforce"]\n'
    )
    assert desk.problems(lambda: desk.load(f"{recipe}lr = 1e-5")) == ["r.toml:10: lr: unknown key; 'lr' belongs in [optimizer]"]
    assert desk.problems(lambda: desk.load(f"{recipe}[optimiser]\nlr = 1e-5")) == [
        "r.toml:10: optimiser: unknown key; did you mean 'optimizer'?"
    ]


@pytest.mark.parametrize("named", ['plugins = ["nowhere.py"]', 'requires = ["jackfield-nowhere"]'])
def test_names_of_a_plugin_that_is_not_there_are_not_unknown_too(desk: Any, named: str) -> None:
    """Those that are like no other; what is like another name was probably misspelt."""
    [problem] = desk.problems(lambda: desk.sound(f"{named}\n[data]\nuse = 'acme'", without=["data"]))
    assert "nowhere" in problem
    problems = desk.problems(
        lambda: desk.sound(f"{named}\n[[tools]]\nuse = 'search'\ncorpus = 'acme'\n[data]\nuse = 'rowz'", without=["data"])
    )
    assert ["nowhere" in problem or "did you mean 'rows'" in problem for problem in problems] == [True, True]


def test_an_inherited_critic_may_be_taken_away(desk: Any) -> None:
    """By the recipe that extends, or by --set; nothing of it is left in the frozen one. Other tables are not optional."""
    desk.sound('critic = "head"\nadvantage = "gae"\nlosses = ["clip", "value"]', without=["advantage", "losses"])
    Path("r.toml").rename("ppo.toml")
    more = 'extends = "ppo.toml"\ncritic = false\nadvantage = "group_norm"\nlosses = ["clip"]'
    recipe = desk.load(more)
    assert recipe.corridor.critic is None
    assert "critic" not in recipe.frozen
    again = load_recipe(Path("ppo.toml"), desk.plugins, ["critic=false", "advantage=group_norm", 'losses=["clip"]'])
    assert again.digest == recipe.digest
    assert desk.problems(lambda: desk.sound("model = false", without=["model"])) == [
        "r.toml:10: model: expected a name, or a table with `use = …`"
    ]


def test_a_key_that_a_table_left_out_requires_is_told_with_the_table(desk: Any) -> None:
    """The optimizer is AdamW unless the recipe says otherwise, but its learning rate is the user's."""
    desk.plugins = load_plugins(environ={})
    recipe = (
        'title = "t"\nsteps = 1\ntasks_per_step = 1\nmodel = "tiny_random"\ndata = "sums"\nrewards = ["last_number"]\n'
        'rollout = {use = "single_turn", max_new_tokens = 8}\nadvantage = "running_baseline"\nlosses = ["reinforce"]\n'
    )
    assert desk.problems(lambda: desk.load(recipe)) == [
        "r.toml:1: optimizer.lr: required: peak learning rate of the policy; add [optimizer] with `lr = …`"
    ]
