"""Test questions that were trained on are found, and a data set's own wording is not mistaken for them."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest

from jackfield.errors import UserError
from jackfield.overlap import overlap, training_tasks, words
from jackfield.plugins import load_plugins
from jackfield.recipe import load_recipe
from jackfield.types import Message, Task


def task(name: str, question: str, system: str = "Be brief.") -> Task:
    return Task(id=name, prompt=(Message(role="system", content=system), Message(role="user", content=question)))


TRAIN = [
    task("train-1", "Who wrote the third letter that Ada Lovelace sent to Charles Babbage in June 1843?"),
    task("train-2", "How many legs do seven spiders and two ants have together?"),
]


def test_the_same_question_in_other_dress_is_a_duplicate() -> None:
    """Case, spaces, width, a final question mark and the system's message make no other question; a symbol does."""
    dressed = task("t", "how many  legs do SEVEN spiders\nand two ants have ｔｏｇｅｔｈｅｒ", system="Think.")
    found = overlap([dressed], TRAIN)
    assert [(pair.test, pair.train) for pair in found.duplicates] == [("t", "train-2")]
    assert found.near == ()
    assert words(task("a", "What is 4 + 3?")) == ("what", "is", "4", "+", "3") != words(task("b", "What is 4 - 3?"))


def test_most_of_a_text_is_near() -> None:
    """Of 12 words' 8 five-grams, changing the last word keeps 7; a new question in a similar form keeps none."""
    changed = task("near", "Who wrote the third letter that Ada Lovelace sent to Charles Babbage in June 1844?")
    other = task("far", "Who wrote the third symphony of Beethoven?")
    found = overlap([changed, other], TRAIN)
    (pair,) = found.near
    total = len(words(changed)) - 4
    assert (pair.test, pair.train, pair.share) == ("near", "train-1", pytest.approx((total - 1) / total))
    assert not found.duplicates


def test_five_grams_of_several_questions_do_not_add_up() -> None:
    """The share is of one training question: half from one and half from another is near neither."""
    halves = [task("a", "one two three four five six seven"), task("b", "eight nine ten eleven twelve thirteen fourteen")]
    both = task("t", "one two three four five six seven eight nine ten eleven twelve thirteen fourteen")
    assert not overlap([both], halves).near


def test_wording_of_the_data_set_does_not_count() -> None:
    """Fifty questions that share a long template overlap only where their own words do."""
    form = "Answer the question below with one word and nothing else , and think before : the capital city of {} today is"
    train = [task(f"train-{i}", form.format(f"place {i} by the long river {i}")) for i in range(50)]
    found = overlap(
        [task("new", form.format("land 77 on the high hill 8")), task("old", form.format("place 7 by the long river 7"))], train
    )
    assert [pair.test for pair in found.duplicates] == ["old"]
    assert found.near == ()


def test_refusal_names_pairs_and_the_way_out() -> None:
    """At most five of them."""
    test = [task(f"test-{i}", "How many legs do seven spiders and two ants have together") for i in range(7)]
    with pytest.raises(UserError) as refused:
        overlap(test, TRAIN).require_none("recipe.toml")
    lines = str(refused.value).splitlines()
    assert lines[0] == "recipe.toml: task test-0: its question is that of training task train-2"
    assert lines[5] == "… and 2 more"
    assert "--overlap report" in lines[6]
    overlap(test[:0], TRAIN).require_none("recipe.toml")


def test_prompts_without_words_are_not_alike() -> None:
    """No user message, no question to compare."""
    silent = Task(id="s", prompt=(Message(role="system", content="Go."),))
    assert not overlap([silent], [silent]).duplicates


def test_a_real_size_takes_seconds() -> None:
    """5 000 against 1 500 questions of 30 words from a vocabulary that makes collisions; a planted pair is found."""
    rng = Random(0)
    text = [" ".join(f"w{rng.randrange(60)}" for _ in range(30)) for _ in range(6500)]
    train = [task(f"train-{i}", text[i]) for i in range(5000)]
    test = [task(f"test-{i}", text[5000 + i]) for i in range(1500)]
    test[700] = task("planted", text[123] + " and more")
    start = time.process_time()
    found = overlap(test, train)
    assert [(pair.test, pair.train) for pair in found.near] == [("planted", "train-123")]
    assert time.process_time() - start < 10


def test_training_questions_are_those_of_the_whole_chain(tmp_path: Path) -> None:
    """Of the recipe and of what its weights come from, each data set once; a recipe of no steps trained on nothing."""
    common = """
tasks_per_step = 2
rollout = {use = "single_turn", max_new_tokens = 8}
optimizer = {lr = 1e-3}
advantage = "constant"
losses = ["cross_entropy"]
engine = "recorded"
"""
    (tmp_path / "first.toml").write_text(f'title = "f"\nsteps = 1\n{common}\nmodel = "tiny_random"\ndata = "smoke"')
    second = f'title = "s"\nsteps = 2\n{common}\nmodel = {{use = "hf_causal", from = "first.toml"}}\ndata = {{use = "sums", num_train = 3}}'
    (tmp_path / "second.toml").write_text(second)
    plugins = load_plugins(environ={})

    def ids(*overrides: str) -> list[str]:
        return [task.id for task in training_tasks(load_recipe(tmp_path / "second.toml", plugins, overrides))]

    assert len(ids()) == 3 + 6
    assert len(ids("data.use=smoke")) == 6
    assert {name.partition("/")[0] for name in ids("steps=0")} == {"smoke"}
