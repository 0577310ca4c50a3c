"""Judge of JSON: does it parse, and does it fit a schema."""

from __future__ import annotations

import importlib.util
import json
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from attrs import frozen

from jackfield.answers import last_answer, tag_name
from jackfield.component import option
from jackfield.types import Rollout, Task, Verdict

if TYPE_CHECKING:
    from jackfield.corridor import Corridor
    from jackfield.stages import Tokenizer

FENCE = re.compile(r"^[ \t]*```[ \t]*(?:json)?[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL | re.IGNORECASE)
TOLD = 3
"""Faults named in a reason."""


class BadSchema(Exception):
    """The schema cannot be used; the message says why."""


@frozen(kw_only=True, slots=False)
class JsonSchema:
    """1 if what the policy wrote is JSON that fits the schema, else 0 with the first faults.

    The JSON is the last complete ``<answer>``; without one the last fenced block (marked ``json`` or not marked), else all the policy
    wrote. A fence within the answer is taken off. ``NaN`` and ``Infinity`` are no JSON. The schema is the row's ``schema`` (in
    ``extra``), else the file's; a row without either is abstained from. References to other documents are not fetched.
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
        return _validator(schema, "'schema'")

    @cached_property
    def _from_file(self) -> Any:
        assert self.schema is not None
        try:
            return _validator(self.schema.read_text(encoding="utf-8"), str(self.schema))
        except OSError as error:
            raise BadSchema(f"cannot read the schema {self.schema}: {error.strerror}") from error


def written_json(rollout: Rollout, tag: str) -> str:
    """The text that should be JSON."""
    tagged = last_answer(rollout, tag) if tag else None
    text = rollout.completion if tagged is None else tagged
    fenced = FENCE.findall(text)
    return (fenced[-1] if fenced else text).strip()


def _validator(schema: Any, name: str) -> Any:
    import jsonschema
    import referencing

    try:
        parsed = json.loads(schema) if isinstance(schema, str) else schema
        kind = jsonschema.validators.validator_for(parsed, default=jsonschema.Draft202012Validator)
        kind.check_schema(parsed)
    except ValueError as error:
        raise BadSchema(f"{name} is not JSON: {error}") from error
    except jsonschema.SchemaError as error:
        raise BadSchema(f"{name} is no JSON schema: {error.json_path}: {error.message[:100]}") from error
    return kind(parsed, registry=referencing.Registry())


def _faults(validator: Any, value: Any) -> list[str]:
    return [
        f"{error.json_path}: {error.message[:150]}" for error in sorted(validator.iter_errors(value), key=lambda e: e.json_path)
    ]


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
