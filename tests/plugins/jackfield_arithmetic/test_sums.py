from __future__ import annotations

import re

import pytest
from attrs import evolve

from jackfield.types import Task
from jackfield_arithmetic.sums import Sums, worked


def numbers(task: Task) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", task.question)]


@pytest.fixture
def train() -> list[Task]:
    return Sums().tasks("train")


@pytest.fixture
def test() -> list[Task]:
    return Sums().tasks("test")


def test_the_answer_is_the_sum(train: list[Task], test: list[Task]) -> None:
    """Of the numbers in the question, as bare text; one-digit numbers are 0 to 9."""
    for task in train + test:
        assert task.answers == (str(sum(numbers(task))),)
        assert len(numbers(task)) == 2
        assert all(0 <= n <= 9 for n in numbers(task))
    assert {n for task in train for n in numbers(task)} == set(range(10))


def test_the_splits_share_no_pair_in_any_order(train: list[Task], test: list[Task]) -> None:
    """55 pairs exist; all are used, each on one side, about a fifth of them held out."""
    trained = {tuple(sorted(numbers(t))) for t in train}
    tested = {tuple(sorted(numbers(t))) for t in Sums(num_test=1000).tasks("test")}
    assert not trained & tested
    assert {tuple(sorted(numbers(t))) for t in test} <= tested
    assert len(trained | tested) == 55
    assert 6 <= len(tested) <= 16


def test_sizes_and_unique_ids(train: list[Task], test: list[Task]) -> None:
    """Repeated sums are tasks of their own."""
    assert (len(train), len(test)) == (1000, 100)
    assert len({t.id for t in train + test}) == 1100
    assert Sums(num_train=0).tasks("train") == []


def test_a_task_depends_on_its_number_only(train: list[Task]) -> None:
    """The same in every call, on every machine (the first three pinned), and whatever the size."""
    assert Sums().tasks("train") == train
    assert Sums(num_train=10).tasks("train") == train[:10]
    assert [numbers(t) for t in train[:3]] == [[2, 1], [2, 0], [5, 0]]


@pytest.mark.parametrize(("digits", "terms"), [(1, 3), (2, 2), (4, 5)])
def test_digits_and_terms(digits: int, terms: int) -> None:
    """Numbers have exactly that many digits; ids differ from those of other sums."""
    tasks = Sums(digits=digits, terms=terms, num_train=50, num_test=50)
    for task in [*tasks.tasks("train"), *tasks.tasks("test")]:
        assert [len(str(n)) for n in numbers(task)] == [digits] * terms
        assert task.answers == (str(sum(numbers(task))),)
        assert task.id.startswith(f"sums/{digits}x{terms}-")


def test_a_worked_answer_adds_one_number_after_another() -> None:
    """Recorded where asked for; otherwise the same tasks."""
    tasks = Sums(terms=3, demonstrations=True).tasks("train")
    assert (tasks[0].question, tasks[0].recorded) == (
        "State the final answer to this sum: 1 + 8 + 5 =",
        (("<think>1 + 8 = 9, 9 + 5 = 14</think><answer>14</answer>",),),
    )
    assert [evolve(task, recorded=()) for task in tasks] == Sums(terms=3).tasks("train")
    assert worked([40, 2]) == "<think>40 + 2 = 42</think><answer>42</answer>"


def test_one_number_is_no_sum() -> None:
    """The message names the key."""
    with pytest.raises(ValueError, match="terms: must be at least 2"):
        Sums(terms=1)
