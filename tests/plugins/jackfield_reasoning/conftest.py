"""A stand-in for the package: one generator that counts, one that evaluates, one whose answer is wrong."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import attrs
import pytest


@dataclass
class Config:
    modulus: int = 999_983
    seed: int = 0
    size: int = 1

    def validate(self) -> None:
        assert self.modulus > 0, "modulus must be positive"


@attrs.define
class Counting:
    """Item i asks for the seed plus i, modulo the modulus."""

    config: Config

    def __getitem__(self, item: int) -> dict[str, Any]:
        number = (self.config.seed + item) % self.config.modulus
        return {"question": f"Which  number is {number}?", "answer": str(number), "metadata": {"spread": (item, item)}}

    def score_answer(self, answer: str, entry: dict[str, Any]) -> float:
        assert isinstance(entry["metadata"]["spread"], tuple)
        return 1.0 if answer == entry["answer"] else 0.25 * (entry["answer"] in answer)


class Fallacy(Counting):
    """The one wrong answer of the real one that case V24 tells of."""

    def __getitem__(self, item: int) -> dict[str, Any]:
        premises = {"premise1": "All ants are dolphins", "premise2": "Some dolphins are not spiders"}
        about = {**premises, "conclusion": "Some ants are not spiders", "is_valid": True}
        return {"question": f"Does it follow? ({item})", "answer": "Yes", "metadata": about}


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("reasoning_gym")
    names = ("counting", "composite", "n_queens", "ransom_note", "gsm_symbolic")
    datasets = {**dict.fromkeys(names, (Counting, Config)), "syllogism": (Fallacy, Config)}
    module.factory = SimpleNamespace(DATASETS=datasets)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "reasoning_gym", module)
    return module
