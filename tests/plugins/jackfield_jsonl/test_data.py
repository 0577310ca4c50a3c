from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jackfield.errors import DataError
from jackfield_jsonl.data import Jsonl

Write = Callable[..., Path]
SYSTEM = {"role": "system", "content": "Own."}
USER = {"role": "user", "content": "Hi"}


def test_constructing_reads_nothing() -> None:
    """A recipe is checked without its files."""
    assert Jsonl(train=Path("nowhere.jsonl")).train == Path("nowhere.jsonl")


def test_rows_become_tasks_in_order(write: Write) -> None:
    """Ids from the row or its line, origin with file and line, source as a label, unknown keys and extra_info as extra."""
    path = write(
        {"question": "Q1", "answer": "A"},
        "",
        {
            "id": "test_0",
            "data_source": "nq",
            "question": "Q2",
            "golden_answers": ["B"],
            "extra_info": {"index": 3},
            "tests": ["t"],
        },
        {"id": 7, "prompt": "Q3", "completion": "C"},
    )
    first, second, third = Jsonl(test=path).tasks("test")
    assert [t.id for t in (first, second, third)] == ["jsonl/test-line-00001", "jsonl/test-nq-test_0", "jsonl/test-7"]
    assert second.origin == f"{path}:3"
    assert second.labels == {"data_source": "nq"}
    assert second.extra == {"index": 3, "tests": ["t"]}
    assert (first.answers, first.recorded, first.labels, first.extra) == (("A",), (), {}, {})
    assert third.recorded == (("C",),)


def test_labelled_steps_are_one_attempt(write: Write) -> None:
    """Turns with a label each; ``labels`` is anybody's key in rows of other shapes."""
    path = write(
        {"prompt": "Q", "completions": ["A", "B"], "labels": [True, False], "source": "x"},
        {"prompt": "Q", "completion": "C", "labels": ["easy"]},
    )
    steps, plain = Jsonl(train=path).tasks("train")
    assert steps.recorded == (("A\n", "B"),)
    assert steps.extra == {"step_labels": ((1.0, 0.0),), "source": "x"}
    assert plain.extra == {"labels": ["easy"]}


def test_one_id_in_two_sources_is_two_tasks_but_not_in_one(write: Write) -> None:
    """Merged data sets number their rows alike (pitfall 14); the same id twice in one source names both lines."""
    rows = [{"id": "0", "data_source": source, "question": "Q", "answer": "A"} for source in ("nq", "hotpotqa")]
    assert len({t.id for t in Jsonl(train=write(*rows)).tasks("train")}) == 2
    path = write(*rows, rows[0])
    with pytest.raises(DataError) as raised:
        Jsonl(train=path).tasks("train")
    assert str(raised.value) == f"{path}:3: id: '0' is the id of {path}:1 too"


def test_all_bad_rows_are_named_at_once(write: Write) -> None:
    """Before any model loads, with file and line of each (case D1); good rows between them don't matter."""
    rows = [
        {"prompt": "Q", "answer": "A"},
        {"prompt": "Q", "answer": None},
        "{",
        {"answer": "A"},
        {"id": [1], "prompt": "Q", "answer": "A"},
    ]
    path = write(*rows)
    with pytest.raises(DataError) as raised:
        Jsonl(train=path).tasks("train")
    lines = str(raised.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{path}:{number}" for number in (2, 3, 4, 5)]
    assert "no gold answer: found the keys 'prompt'" in lines[0]
    assert "no known shape" in lines[2]
    assert "id: expected text or a whole number, found a list" in lines[3]


def test_many_bad_rows_of_one_kind_are_one_line(write: Write) -> None:
    """With where the first of them stand."""
    path = write(*[{"prompt": "Q"}] * 30)
    with pytest.raises(DataError) as raised:
        Jsonl(train=path).tasks("train")
    (problem,) = raised.value.problems
    assert problem.place == f"{path}:1"
    assert problem.message.endswith(f" (and 29 more like it: {path}:2, {path}:3, {path}:4, …)")


def test_prompts_alone_need_to_be_allowed(write: Write) -> None:
    """A row without answer is an error unless the recipe says that no reward needs one."""
    path = write({"prompt": "Q"})
    [task] = Jsonl(train=path, prompts_only=True).tasks("train")
    assert (task.question, task.answers, task.recorded) == ("Q", (), ())


def test_a_split_without_file_is_an_error_when_asked_for(write: Write) -> None:
    """A run that does not evaluate needs no test file."""
    data = Jsonl(train=write({"prompt": "Q", "answer": "A"}))
    assert len(data.tasks("train")) == 1
    with pytest.raises(DataError, match=r"data\.test: the run needs test tasks, but no file is given"):
        data.tasks("test")


def test_a_system_prompt_is_put_first(write: Write) -> None:
    """Before rows that have none."""
    [task] = Jsonl(train=write({"prompt": "Hi", "answer": "A"}), system_prompt="Be brief.").tasks("train")
    assert [(m.role, m.content) for m in task.prompt] == [("system", "Be brief."), ("user", "Hi")]


def test_two_system_prompts_are_refused_or_merged(write: Write) -> None:
    """Never silently dropped (case T19): the row is an error unless merging is asked for."""
    path = write({"messages": [SYSTEM, USER], "answer": "A"})
    with pytest.raises(DataError, match=r"rows.jsonl:1: system: the row has a system message and the recipe a system_prompt"):
        Jsonl(train=path, system_prompt="Be brief.").tasks("train")
    [merged] = Jsonl(train=path, system_prompt="Be brief.", merge_system_prompts=True).tasks("train")
    assert [m.content for m in merged.prompt] == ["Be brief.\n\nOwn.", "Hi"]
    [own] = Jsonl(train=path).tasks("train")
    assert [m.content for m in own.prompt] == ["Own.", "Hi"]


def test_unicode_comes_through(write: Write) -> None:
    """Prompt and answer are the same characters, emoji and combining marks too."""
    text = "東京タワー 🗼 e\u0301"
    [task] = Jsonl(train=write({"question": text, "answer": text})).tasks("train")
    assert (task.question, task.answers) == (text, (text,))


def test_pairs_bring_scores(write: Write) -> None:
    """1 for the chosen and 0 for the rejected attempt, in their order; a row's own scores stand (for graded pairs)."""
    pair = {"prompt": "Q", "chosen": "A", "rejected": "B"}
    plain, graded = Jsonl(train=write(pair, {**pair, "scores": [0.75, 0.25], "tag": "x"})).tasks("train")
    assert (plain.recorded, plain.extra) == ((("A",), ("B",)), {"scores": (1.0, 0.0)})
    assert graded.extra == {"scores": [0.75, 0.25], "tag": "x"}
