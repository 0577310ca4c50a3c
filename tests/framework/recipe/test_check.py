"""What must hold between the parts, with the arithmetic of every refusal."""

from __future__ import annotations

from typing import Any

import pytest

GAE = 'advantage = "gae"'
VALUE = 'losses = ["clip", "value"]'
CRITIC = 'critic = "head"'


def test_a_group_smaller_than_the_advantage_compares_is_refused(desk: Any) -> None:
    """A12: group size 1 with a group baseline would train nothing."""
    assert desk.problems(lambda: desk.sound("", "group_size=1")) == [
        "--set: group_size: 1 rollout a task, but advantage 'group_norm' compares 2 or more; write group_size = 2 or above"
    ]


def test_a_group_size_left_at_its_default_is_told_at_the_advantage(desk: Any) -> None:
    """For no line sets it."""
    assert desk.problems(lambda: desk.sound(without=["group_size"])) == [
        "r.toml:8: group_size: 1 rollout a task, but advantage 'group_norm' compares 2 or more; write group_size = 2 or above"
    ]


def test_an_advantage_that_learns_from_a_reward_needs_one(desk: Any) -> None:
    """R9: an empty list of rewards."""
    expected = "advantage 'group_norm' learns from a reward, and the recipe names none; add [[rewards]] with `use = …`"
    assert desk.problems(lambda: desk.sound(without=["rewards"])) == [f"r.toml:8: rewards: {expected}"]
    assert desk.problems(lambda: desk.sound("rewards = []", without=["rewards"])) == [f"r.toml:8: rewards: {expected}"]


def test_supervised_training_needs_no_reward(desk: Any) -> None:
    """Its advantage looks at none."""
    assert desk.sound('advantage = "constant"', without=["rewards", "advantage"]).corridor.rewards == ()


def test_a_reward_that_is_itself_wrong_is_not_called_missing(desk: Any) -> None:
    """One problem, one message."""
    problems = desk.problems(lambda: desk.sound('rewards = ["exatc"]', without=["rewards"]))
    assert problems == ["r.toml:10: rewards.0.use: 'exatc' is unknown among rewards; did you mean 'exact'?"]


ADD_CRITIC = '\n\n    [critic]\n    use = "head"'
ADD_LOSS = '\n\n    [[losses]]\n    use = "value"'


def test_parts_that_need_a_value_need_a_critic(desk: Any) -> None:
    """All are named, in one message with the lines to write; a loss of weight 0 needs nothing."""
    assert desk.problems(lambda: desk.sound(f"{GAE}\n{VALUE}", without=["advantage", "losses"])) == [
        f"r.toml:9: advantage: 'gae' and 'value' need a value of every token, and there is no critic; add{ADD_CRITIC}"
    ]
    assert desk.sound('losses = ["clip", {use = "value", weight = 0}]', without=["losses"]).corridor.needs == {"old_logp"}


def test_who_adds_a_critic_is_told_of_the_loss_that_trains_it(desk: Any) -> None:
    """Else the next check would say that; not while a loss is unknown, which may be that one."""
    told = "'gae' needs a value of every token, and there is no critic; add"
    assert desk.problems(lambda: desk.sound(GAE, without=["advantage"])) == [f"r.toml:10: advantage: {told}{ADD_CRITIC}{ADD_LOSS}"]
    problems = desk.problems(lambda: desk.sound(f'{GAE}\nlosses = ["clip", "valeu"]', without=["advantage", "losses"]))
    assert problems[0] == f"r.toml:9: advantage: {told}{ADD_CRITIC}"


def test_the_lines_that_are_told_make_a_sound_recipe(desk: Any) -> None:
    """Copied as they are."""
    tables = '[[losses]]\nuse = "clip"\n[advantage]\nuse = "gae"\n'
    [problem] = desk.problems(lambda: desk.sound(tables, without=["advantage", "losses"]))
    assert desk.sound(tables + problem.partition("; add")[2], without=["advantage", "losses"]).corridor.critic is not None


def test_returns_are_told_with_the_advantages_that_give_them(desk: Any) -> None:
    """Those that are installed."""
    problems = desk.problems(lambda: desk.sound(f"advantage = 'constant'\n{VALUE}", without=["advantage", "losses"]))
    assert problems == [
        "r.toml:10: losses.1: 'value' needs returns, and advantage 'constant' gives none; choose from: gae, group_norm",
        f"r.toml:10: losses.1: 'value' needs a value of every token, and there is no critic; add{ADD_CRITIC}",
    ]


def test_a_critic_that_nobody_needs_is_refused(desk: Any) -> None:
    """It would be held and trained for nothing (C4)."""
    assert desk.problems(lambda: desk.sound(CRITIC)) == [
        "r.toml:11: critic: no part of this recipe needs a value or score; remove [critic], or write critic = false"
    ]
    assert desk.sound(f"{CRITIC}\n{GAE}\n{VALUE}", without=["advantage", "losses"]).corridor.critic is not None


def test_a_critic_that_is_read_and_never_trained_is_refused(desk: Any) -> None:
    """Advantages would be made of what it started as; with the losses that train one. A weight of 0 trains nothing."""
    told = (
        "r.toml:10: critic: 'gae' reads the critic's values, and no loss trains the critic; "
        f"give [critic] trained weights by `from` or `path`, or add{ADD_LOSS}"
    )
    assert desk.problems(lambda: desk.sound(f"{CRITIC}\n{GAE}", without=["advantage"])) == [told]
    idle = VALUE.replace('"value"', '{use = "value", weight = 0}')
    assert desk.problems(lambda: desk.sound(f"{CRITIC}\n{GAE}\n{idle}", without=["advantage", "losses"])) == [
        told.replace(":10", ":9")
    ]


def test_a_critic_trained_before_may_stay_as_it_is(desk: Any) -> None:
    """Its weights come from a folder or from another recipe."""
    fixed = desk.sound(f'{GAE}\ncritic = {{use = "head", path = "trained"}}', without=["advantage"])
    assert fixed.corridor.critic.path == "trained"


def test_a_critic_is_not_called_idle_while_a_loss_is_unknown(desk: Any) -> None:
    """The loss that is misspelt may be the one that needs it."""
    problems = desk.problems(lambda: desk.sound(f'{CRITIC}\nlosses = ["clip", "valeu"]', without=["losses"]))
    assert problems == ["r.toml:11: losses.1.use: 'valeu' is unknown among losses; did you mean 'value'?"]


def test_a_need_that_nothing_computes_is_told(desk: Any) -> None:
    """The plugin misspelt it."""
    assert desk.problems(lambda: desk.sound('losses = ["wishful"]', without=["losses"])) == [
        "r.toml:10: losses.0: 'wishful' needs 'ref_logpp', which nothing computes; did you mean 'ref_logp'?"
    ]


@pytest.mark.parametrize(
    ("tasks", "group", "minibatches", "nearest"),
    [
        (4, 2, 9, "write minibatches = 8, tasks_per_step = 5 or group_size = 3"),
        (1, 2, 5, "write minibatches = 2, tasks_per_step = 3 or group_size = 5"),
    ],
)
def test_minibatches_that_cannot_all_be_filled_are_refused(
    desk: Any, tasks: int, group: int, minibatches: int, nearest: str
) -> None:
    """C1 and C2: the arithmetic, and values that work, each on its own."""
    overrides = [f"tasks_per_step={tasks}", f"group_size={group}", f"learn.minibatches={minibatches}"]
    arithmetic = f"{tasks} × {group} = {tasks * group} rollouts a step cannot fill {minibatches} minibatches"
    assert desk.problems(lambda: desk.sound("", *overrides)) == [
        f"--set: learn.minibatches: tasks_per_step × group_size = {arithmetic}; {nearest}"
    ]
    for better in nearest.removeprefix("write ").replace(" or ", ", ").split(", "):
        key, _, value = better.partition(" = ")
        desk.sound("", *overrides, f"{'learn.' if key == 'minibatches' else ''}{key}={value}")


def test_a_token_budget_needs_an_engine_that_samples(desk: Any) -> None:
    """C4: an option that is accepted but changes nothing is refused."""
    desk.sound("", "token_budget=100")
    assert desk.problems(lambda: desk.sound("", "token_budget=100", "engine=recorded")) == [
        "--set: token_budget: engine 'recorded' samples nothing, so this is never spent; remove it, steps says how long the run is"
    ]


def test_rollouts_need_not_divide_evenly(desk: Any) -> None:
    """Eight rollouts in three minibatches are 3, 3 and 2."""
    assert desk.sound("", "learn.minibatches=3").corridor.updates_per_step == 3


def test_fixed_length_goes_with_its_aggregation(desk: Any) -> None:
    """Given if and only if it is used (C4), and a length."""
    assert desk.problems(lambda: desk.sound('[learn]\naggregation = "fixed_length"')) == [
        'r.toml:12: learn.fixed_length: aggregation = "fixed_length" divides by this constant; write fixed_length = … (tokens)'
    ]
    assert desk.problems(lambda: desk.sound("[learn]\nfixed_length = 512")) == [
        'r.toml:12: learn.fixed_length: is only used by aggregation = "fixed_length", and aggregation is "token_mean"; remove it'
    ]
    both = '[learn]\naggregation = "fixed_length"\nfixed_length = '
    assert desk.sound(both + "512").corridor.learn.fixed_length == 512
    assert desk.problems(lambda: desk.sound(both + "0")) == ["r.toml:13: learn.fixed_length: must be at least 1, found 0"]


def test_an_environment_gets_the_tools_it_calls(desk: Any) -> None:
    """By the tool's name, not by the component's."""
    more = 'rollout = "searching"'
    assert desk.problems(lambda: desk.sound(more, without=["rollout"])) == [
        "r.toml:10: tools: 'searching' calls a tool named 'search', and the recipe has no tool; add it under [[tools]]"
    ]
    assert desk.sound(more + '\ntools = ["search_too"]', without=["rollout"]).corridor.tools[0].part.name == "search"


def test_two_tools_of_one_name_are_refused(desk: Any) -> None:
    """A rollout could reach only one."""
    assert desk.problems(lambda: desk.sound('tools = ["search", "search_too"]')) == [
        "r.toml:11: tools.1: a second tool that is called 'search', like tools.0: no rollout could reach it"
    ]


def test_a_component_may_refuse_the_recipe(desk: Any) -> None:
    """``check_recipe`` sees the whole corridor; a loss that is not computed is not asked."""
    recipe = 'losses = ["picky"]'
    assert desk.sound(recipe, without=["losses"]).corridor.run.seed == 0
    assert desk.problems(lambda: desk.sound(recipe, "seed=13", without=["losses"])) == [
        "r.toml:10: losses.0: does not like seed 13"
    ]
    idle = 'losses = ["clip", {use = "picky", weight = 0}]'
    assert desk.sound(idle, "seed=13", without=["losses"]).corridor.run.seed == 13


def test_a_recipe_that_learns_nothing_is_refused(desk: Any) -> None:
    """All losses of weight 0."""
    assert desk.problems(lambda: desk.sound("", "losses.0.weight=0")) == [
        "--set: losses: every loss has weight 0, so nothing is learnt; give one a weight"
    ]


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_numbers_are_finite(desk: Any, value: str) -> None:
    """TOML can write nan and inf; no key of ours means anything by them."""
    (problem,) = desk.problems(lambda: desk.sound("", f"losses.0.weight={value}"))
    assert problem.startswith("--set: losses.0.weight: expected a finite number")
