"""The user's own rows as tasks, validated as a whole before any model loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from attrs import frozen

from jackfield.component import option
from jackfield.errors import DataError, Problem
from jackfield.findings import Findings
from jackfield.types import Message, Task
from jackfield_jsonl.rows import BadRow, Row, kind, read_rows
from jackfield_jsonl.shapes import ANSWERS, CHATS, PROMPTS, Content, missing_answer, read_content


@frozen(kw_only=True)
class Jsonl:
    """One task a row. Rows may be in Search-R1's shape (``prompt``, ``reward_model.ground_truth.target``, ``data_source``,
    ``extra_info``), conversations (``messages`` or ``conversations``; the last assistant message is a recorded attempt),
    ``prompt``/``question`` with ``answer``/``answers``/``golden_answers``, ``prompt`` with ``completion`` (recorded) or with
    ``completions`` and ``labels`` (an attempt in steps, with ``extra["step_labels"]``), or ``chosen``/``rejected`` (two recorded
    attempts with ``extra["scores"]`` 1 and 0, unless the row has ``scores`` of its own). Keys with null count as missing.

    A task's id is the row's ``data_source`` and ``id``, else its line; two rows of one id are an error. ``data_source`` becomes a
    label, so that evaluation reports the sources apart; ``extra_info`` and all keys that the shape does not know become ``extra``.
    """

    train: Path | None = option(None, help="file of the training rows: .jsonl, .jsonl.gz, or .parquet if pyarrow is installed")
    test: Path | None = option(None, help="file of the test rows")
    shape: Literal["auto", "search_r1", "preference", "chat", "steps", "completion", "prompt_answer"] = option(
        "auto", help="shape of all rows; auto: each row's keys tell its shape"
    )
    prompts_only: bool = option(False, help="allow rows without gold answer or recorded attempt, for rewards that need neither")
    system_prompt: str | None = option(None, help="a system message put before every prompt; rows must not have their own")
    merge_system_prompts: bool = option(False, help="allow rows with a system message of their own: it follows system_prompt")

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """All tasks of a split, in the file's order. Raises DataError for every bad row at once."""
        path = self.train if split == "train" else self.test
        if path is None:
            raise DataError(Problem("", f"data.{split}", f"the run needs {split} tasks, but no file is given"))
        findings, tasks, places = Findings(), [], dict[str, str]()
        for row in read_rows(path, findings):
            try:
                task = self._task(split, row)
                if (other := places.setdefault(task.id, row.place)) != row.place:
                    raise BadRow("id", f"'{row.keys['id']}' is the id of {other} too")
                tasks.append(task)
            except BadRow as bad:
                findings.add(bad.at(row.place))
        findings.raise_any()
        return tasks

    def _task(self, split: str, row: Row) -> Task:
        content = read_content(row.keys, None if self.shape == "auto" else self.shape)
        if not content.answers and not content.recorded and not self.prompts_only:
            raise BadRow("", missing_answer(row.keys))
        source = row.keys.get("data_source")
        return Task(
            id=f"jsonl/{split}-{_name(row)}",
            prompt=self._with_system(content.prompt),
            answers=content.answers,
            recorded=content.recorded,
            labels={} if source is None else {"data_source": str(source)},
            extra=_told(content) | _extra(row.keys, _KNOWN | {"labels"} if content.step_labels else _KNOWN),
            origin=row.place,
        )

    def _with_system(self, prompt: tuple[Message, ...]) -> tuple[Message, ...]:
        if self.system_prompt is None:
            return prompt
        own = prompt[0].content if prompt[0].role == "system" else None
        if own is None:
            return (Message(role="system", content=self.system_prompt), *prompt)
        if not self.merge_system_prompts:
            message = "the row has a system message and the recipe a system_prompt; drop one, or set merge_system_prompts = true"
            raise BadRow("system", message)
        return (Message(role="system", content=f"{self.system_prompt}\n\n{own}"), *prompt[1:])


_KNOWN = frozenset(
    (
        *ANSWERS,
        *PROMPTS,
        *CHATS,
        "completion",
        "completions",
        "chosen",
        "rejected",
        "reward_model",
        "id",
        "data_source",
        "extra_info",
    )
)
"""Keys that have a place in a task; all others go to ``extra``."""


def _told(content: Content) -> dict[str, Any]:
    """What the shape says of the recorded attempts."""
    scores = {"scores": content.scores} if content.scores else {}
    return scores | ({"step_labels": (content.step_labels,)} if content.step_labels else {})


def _name(row: Row) -> str:
    """``"nq-test_0"``, ``"test_0"`` or ``"line-00012"``."""
    if "id" not in row.keys:
        return f"line-{row.number:05d}"
    own = row.keys["id"]
    if isinstance(own, bool) or not isinstance(own, (str, int)):
        raise BadRow("id", f"expected text or a whole number, found {kind(own)}")
    return f"{row.keys['data_source']}-{own}" if "data_source" in row.keys else str(own)


def _extra(keys: Any, known: frozenset[str]) -> dict[str, Any]:
    info = keys.get("extra_info", {})
    if not isinstance(info, dict):
        raise BadRow("extra_info", f"expected an object, found {kind(info)}")
    return {key: value for key, value in keys.items() if key not in known} | info
