"""The smoke data is sound: tasks differ, splits are apart, answers stand in the passages."""

from __future__ import annotations

from jackfield_smoke.facts import SmokePassages, SmokeTasks


def test_splits_are_apart_and_answers_are_in_the_corpus() -> None:
    """No task in both splits; every gold answer is in exactly one passage."""
    train, test = SmokeTasks().tasks("train"), SmokeTasks().tasks("test")
    assert len({t.id for t in [*train, *test]}) == len({t.question for t in [*train, *test]}) == 8
    passages = SmokePassages().passages()
    for task in [*train, *test]:
        assert sum(task.answers[0] in p.text for p in passages) == 1
