"""Judge of JSON: does it parse, and does it fit a schema."""

from __future__ import annotations

import importlib.util
import json
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from attrs import frozen

from jackfield.answers import last_tagged, tag_name
from jackfield.component import option
from jackfield.types import Rollout, Task, Verdict
from jackfield_verifiers.schema import BadSchema, validator_of

if TYPE_CHECKING:
    from jackfield.corridor import Corridor
    from jackfield.stages import Tokenizer

FENCE = re.compile(r"^[ \t]*+```[ \t]*+(\w*+)[^`\n]*+$", re.MULTILINE)
"""Possessive: a long line that is no fence is given up at once."""
TOLD = 3
"""Faults named in a reason."""


@frozen(kw_only=True, slots=False)
class JsonSchema:
    """1 if what the policy wrote is JSON that fits the schema, else 0 with the first faults.

    The JSON is the last complete ``<answer>``; without one the last fenced block (marked ``json`` or not marked), else all the policy
    wrote. A fence within the answer is taken off. ``NaN`` and ``Infinity`` are no JSON. The schema is the row's ``schema`` (in
    ``extra``, an object or its text), else the file's; a row without either is abstained from. References to other documents are not
    fetched: a schema with one is refused.
    """

    schema: Path | None = option(None, help="a JSON file with the schema for rows that have none of their own")
    answer_tag: str = option("answer", help='the tag that holds the JSON; "": none does', check=tag_name)

    def check_recipe(self, corridor: Corridor) -> list[str]:  # noqa: ARG002
        """Whether the library is there and the file holds a schema."""
        if importlib.util.find_spec("jsonschema") is None:
            return ["needs the module 'jsonschema', which is not installed; pip install 'jackfield[json]'"]
        try:
            self._validator({})
        except BadSchema as error:
            return [str(error)]
        return []

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:  # noqa: ARG002
        """Why no JSON for ``task`` could be judged."""
        try:
            return None if self._validator(task.extra) is not None else "has no 'schema', and the recipe names no file with one"
        except BadSchema as error:
            return str(error)

    def judge(self, rollout: Rollout) -> Verdict:
        row = rollout.task.origin or rollout.task.id
        try:
            validator = self._validator(rollout.task.extra)
        except BadSchema as error:
            return Verdict.abstain(f"{row}: {error}")
        if validator is None:
            return Verdict.abstain(f"{row} has no 'schema'")
        text = written_json(rollout, self.answer_tag)
        try:
            faults = _faults(validator, json.loads(text, parse_constant=_no_constant))
        except ValueError as error:
            return Verdict.score(0.0, reason=f"not JSON: {error}", parsed=text)
        except RecursionError:
            return Verdict.score(0.0, reason="nested too deeply", parsed=text)
        return Verdict.score(float(not faults), reason="; ".join(faults[:TOLD]) or "fits the schema", parsed=text)

    def _validator(self, extra: Any) -> Any:
        """A validator for the row's schema or the file's; None if there is neither."""
        schema = extra.get("schema")
        if schema is None:
            return None if self.schema is None else self._from_file
        return validator_of(schema, "'schema'")

    @cached_property
    def _from_file(self) -> Any:
        assert self.schema is not None
        try:
            return validator_of(self.schema.read_bytes(), str(self.schema))
        except OSError as error:
            raise BadSchema(f"cannot read the schema {self.schema}: {error.strerror}") from error


def written_json(rollout: Rollout, tag: str) -> str:
    """The text that should be JSON. Nothing is unboxed: braces are JSON's own here."""
    tagged = last_tagged(rollout, tag) if tag else None
    text = rollout.completion if tagged is None else tagged
    block = _last_block(text)
    return (text if block is None else block).strip()


def _last_block(text: str) -> str | None:
    """Fence by fence: a bare one closes the block that is open; any other opens one, also within one that was never closed."""
    block: str | None = None
    opened: re.Match[str] | None = None
    for fence in FENCE.finditer(text):
        if opened is None or fence[0].strip() != "```":
            opened = fence
            continue
        if opened[1].lower() in ("", "json"):
            block = text[opened.end() : fence.start()]
        opened = None
    return block


def _faults(validator: Any, value: Any) -> list[str]:
    return [
        f"{error.json_path}: {error.message[:150]}" for error in sorted(validator.iter_errors(value), key=lambda e: e.json_path)
    ]


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
