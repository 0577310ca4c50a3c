"""The rollouts of a run folder, read back: what was asked, what the policy said, and how it was judged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from jackfield.errors import DataError, Problem
from jackfield.seeds import derive
from jackfield.types import Message

HELD_OUT = 5
"""One question in so many is only ever given to the test split."""


@frozen(kw_only=True)
class Attempt:
    """One rollout of training, as far as it was judged."""

    group: str
    member: int
    task: str
    prompt: tuple[Message, ...]
    question: str
    answers: tuple[str, ...]
    turns: tuple[str, ...]
    label: float
    """What the source gave it, or the whole reward."""
    truncated: bool
    origin: str


def attempts(path: str, split: str, source: str | None) -> Iterator[Attempt]:
    """All judged rollouts of the training steps of the run that ``path`` lies in, in order, those of the split's questions.

    path: a run folder or anything in it, such as a checkpoint. source: the verdict that counts; None: the reward.
    Raises DataError naming what is missing.
    """
    files = sorted((_run_folder(Path(path)) / "rollouts").glob("step-*.jsonl"))
    for file in files:
        with file.open(encoding="utf-8") as lines:  # not splitlines(): a text may hold U+2028
            for number, line in enumerate(lines, start=1):
                place = f"{file}:{number}"
                record = json.loads(line)
                label = _label(record, source, place)
                if label is not None and (split == "test") == is_test(record["question"]):
                    yield _attempt(record, label, place)


def is_test(question: str) -> bool:
    """By the question's text, so that a question met twice is never in both splits."""
    return derive("held out", question) % HELD_OUT == 0


def _run_folder(path: Path) -> Path:
    for folder in (path, *path.parents):
        if (folder / "rollouts").is_dir():
            return folder
    raise DataError(
        Problem("", "data.path", f"{path} is no run folder and in none: found no folder 'rollouts' (tracker rollouts_jsonl)")
    )


def _label(record: dict[str, Any], source: str | None, place: str) -> float | None:
    """None for a rollout that failed or was not judged."""
    if source is None:
        return None if record["reward"] is None else float(record["reward"])
    verdicts = record["verdicts"]
    if verdicts and source not in verdicts:
        raise DataError(Problem(place, "data.source", f"no source '{source}' judged this rollout; there are {', '.join(verdicts)}"))
    value = verdicts[source]["value"] if verdicts else None
    return None if value is None else float(value)


def _attempt(record: dict[str, Any], label: float, place: str) -> Attempt:
    return Attempt(
        group=record["group"],
        member=record["member"],
        task=record["task"],
        prompt=tuple(Message(**message) for message in record["prompt"]),
        question=record["question"],
        answers=tuple(record["answers"]),
        turns=tuple(s["text"] for s in record["segments"] if s["writer"] == "policy"),
        label=label,
        truncated=record["finish"]["reason"] in ("length", "turns"),
        origin=place,
    )
