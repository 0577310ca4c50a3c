"""What the pinned package really gives. Needs it in the cache or a registry to download 8 MB from."""

from __future__ import annotations

from collections import Counter

import pytest

from jackfield_champ.build import load_problems
from jackfield_champ.data import Champ, ChampPairs, ChampSteps
from jackfield_champ.solutions import load_solutions
from jackfield_champ.split import five_grams

pytestmark = pytest.mark.real


def test_counts() -> None:
    """Problems, graded answers and pairs, as the documentation says."""
    answers = [answer for problem in load_problems() for answer in problem.answers]
    assert Counter(answer.correct for answer in answers) == {True: 1104, False: 1438}
    assert [len(Champ().tasks(split)) for split in ("train", "test")] == [61, 18]
    assert [len(ChampPairs().tasks(split)) for split in ("train", "test")] == [289, 73]
    assert [len(ChampPairs(uses=3).tasks(split)) for split in ("train", "test")] == [568, 170]


def test_no_twin_is_on_both_sides() -> None:
    """No test problem shares more than 0.4 of its 5-grams with one trained on."""
    train, test = ([five_grams(task.question) for task in Champ().tasks(split)] for split in ("train", "test"))
    assert max(len(one & other) / min(len(one), len(other)) for one in train for other in test if one and other) <= 0.4


def test_rows_checked_by_hand() -> None:
    """Problems worked out on paper: the gold answer, and grades of answers to them."""
    by_id = {problem.id: problem for problem in load_problems()}
    assert by_id["Number-Theory_17"].gold == 88**2  # the square of the form aabb
    assert by_id["Combinatorics_18"].gold == 101 * 100 // 2  # ordered triples with sum 99
    squares = by_id["Number-Theory_17"].answers
    assert [answer.correct for answer in squares] == ["7744" in answer.text[-300:] for answer in squares]


def test_labelled_steps() -> None:
    """Counts; a mistake that was marked lies in the step that is labelled so; nothing that champ tests is trained on."""
    solutions = load_solutions()
    assert len(solutions) == 540
    assert Counter(solution.first_wrong is None for solution in solutions) == {False: 444, True: 96}
    train, test = ChampSteps().tasks("train"), ChampSteps().tasks("test")
    assert [len(train), len(test)] == [424, 116]
    labels = [label for task in (*train, *test) for label in task.extra["step_labels"][0]]
    assert (len(labels), sum(labels)) == (7999, 3211)
    asked = {task.question for task in train}
    assert not asked & {task.question for task in (*test, *Champ().tasks("test"))}
    marked = [s.steps[s.first_wrong] for s in solutions if s.problem == "Inequality_11" and s.first_wrong is not None]
    assert any("a_1+a_2+...+a_n >= n^(1/n)" in step for step in marked)  # it is n or more
