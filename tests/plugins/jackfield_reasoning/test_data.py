from __future__ import annotations

import logging
import sys
from types import SimpleNamespace

import pytest

from jackfield.errors import UserError
from jackfield_reasoning.data import ReasoningGym

pytestmark = pytest.mark.usefixtures("package")


def test_tasks() -> None:
    """Question, answer and label; seeds of the splits lie far apart; more tasks and other keys leave ids apart."""
    data = ReasoningGym(dataset="counting", num_train=3, num_test=2)
    train, test = data.tasks("train"), data.tasks("test")
    assert [t.answers for t in train] == [("0",), ("1",), ("2",)]
    assert train[1].question == "Which  number is 1?"
    assert train[1].labels == {"dataset": "counting"}
    assert len({t.id for t in (*train, *test)}) == 5
    assert ReasoningGym(dataset="counting", num_train=4, num_test=2).tasks("train")[:3] == train
    assert ReasoningGym(dataset="counting", num_train=1, num_test=0, config={"modulus": 7}).tasks("train")[0].id != train[0].id


def test_tested_and_repeated_questions_are_not_trained_on(caplog: pytest.LogCaptureFixture) -> None:
    """With 7 possible questions and 3 of them tested (10^9 = 6 mod 7: 6, 0, 1), 4 are left; the log says how many went."""
    data = ReasoningGym(dataset="counting", config={"modulus": 7}, num_train=20, num_test=3)
    with caplog.at_level(logging.WARNING):
        train, test = data.tasks("train"), data.tasks("test")
    assert [t.answers[0] for t in test] == ["6", "0", "1"]
    assert [t.answers[0] for t in train] == ["2", "3", "4", "5"]
    assert "counting: 16 of 20 training questions" in caplog.text


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"dataset": "countin"}, "no generator 'countin'; did you mean 'counting'"),
        ({"dataset": "composite"}, "no generator 'composite'"),
        ({"dataset": "counting", "config": {"modulo": 3}}, "unknown key of counting; did you mean 'modulus'"),
        ({"dataset": "counting", "config": {"seed": 3}}, "is set by the data source"),
        ({"dataset": "counting", "config": {"modulus": 0}}, "counting refuses its keys: modulus must be positive"),
    ],
)
def test_mistakes(keys: dict[str, object], message: str) -> None:
    """Named with the nearest valid choice."""
    with pytest.raises(UserError, match=message):
        ReasoningGym(**keys).tasks("test")  # type: ignore[arg-type]


def test_wrong_answers_are_mended() -> None:
    """V24: all ants are dolphins, some dolphins are not spiders; whether some ants are not is open. The reward knows."""
    [task] = ReasoningGym(dataset="syllogism", num_test=1).tasks("test")
    assert task.answers == ("No",)
    assert task.extra["reasoning_gym"]["entry"]["answer"] == "No"


def test_unsteady_generators_need_fixed_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator that draws from a set's order would ask other questions after a resume, so it is refused unless hashes are fixed."""
    monkeypatch.setattr(sys, "flags", SimpleNamespace(hash_randomization=1))
    with pytest.raises(UserError, match="PYTHONHASHSEED=0"):
        ReasoningGym(dataset="ransom_note").tasks("test")
    monkeypatch.setattr(sys, "flags", SimpleNamespace(hash_randomization=0))
    assert ReasoningGym(dataset="ransom_note", num_test=1).tasks("test")


def test_gsm_symbolic_warns_of_gsm8k(caplog: pytest.LogCaptureFixture) -> None:
    """Its templates are GSM8K's test questions."""
    ReasoningGym(dataset="gsm_symbolic", num_train=1, num_test=0).tasks("train")
    assert "do not report GSM8K" in caplog.text


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "reasoning_gym", None)
    with pytest.raises(UserError, match=r"pip install 'jackfield\[reasoning\]'"):
        ReasoningGym(dataset="counting").tasks("test")
