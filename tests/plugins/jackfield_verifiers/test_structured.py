from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from jackfield.testing.contracts import check_reward
from jackfield.testing.fakes import CharTokenizer
from jackfield.types import Finish, Rollout, Segment, Task, Verdict
from jackfield_verifiers.structured import JsonSchema

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
    "additionalProperties": False,
}
NO_CORRIDOR = cast(Any, None)


def rollout(text: str, **extra: Any) -> Rollout:
    segments = (Segment(tokens=np.arange(1), writer="policy", text=text),)
    return Rollout(
        task=Task(id="t", prompt=(), extra=extra, origin="rows.jsonl:5"), member=0, segments=segments, finish=Finish(reason="eos")
    )


def judged(text: str) -> Verdict:
    return JsonSchema().judge(rollout(text, schema=SCHEMA))


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ada"}',
        'Here:\n```json\n{"name": "Ada", "age": 36}\n```\nDone.',
        '{"no": 1} <answer>{"name": "Ada"}</answer>',
        '<answer>\n```json\n{"name": "Ada"}\n```\n</answer>',
        '```\n{"no": 1}\n```\nbetter\n```\n{"name": "Ada"}\n```',
    ],
)
def test_fits(text: str) -> None:
    """Bare, fenced or tagged: the tagged one goes before, the last fence of several."""
    assert (judged(text).value, judged(text).reason) == (1, "fits the schema")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"name": 1}', "$.name: 1 is not of type 'string'"),
        ('{"age": -1}', "$: 'name' is a required property; $.age: -1 is less than the minimum of 0"),
        ("[]", "$: [] is not of type 'object'"),
        ('{"name": "Ada"', "not JSON: Expecting ',' delimiter: line 1 column 15 (char 14)"),
        ('{"name": "Ada", "age": NaN}', "not JSON: NaN is no JSON number"),
        ("", "not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[" * 50_000, "nested too deeply"),
    ],
)
def test_faults(text: str, reason: str) -> None:
    """0 with the place and kind of the first faults."""
    assert (judged(text).value, judged(text).reason) == (0, reason)


def test_schema_from_a_file(tmp_path: Path) -> None:
    """For rows without their own; a row's own goes before. Nothing is read before it is used."""
    judge = JsonSchema(schema=tmp_path / "schema.json")
    assert judge.check_recipe(NO_CORRIDOR) == [f"cannot read the schema {tmp_path / 'schema.json'}: No such file or directory"]
    (tmp_path / "schema.json").write_text(json.dumps({"type": "integer"}))
    assert judge.check_recipe(NO_CORRIDOR) == []
    assert judge.judge(rollout("7")).value == 1
    assert judge.judge(rollout("7", schema={"type": "string"})).value == 0


def test_unusable_schemas(tmp_path: Path) -> None:
    """Told when the recipe or the row is checked, and abstained from."""
    (tmp_path / "schema.json").write_text('{"type": "integr"}')
    [message] = JsonSchema(schema=tmp_path / "schema.json").check_recipe(NO_CORRIDOR)
    assert "is no JSON schema: $.type: 'integr' is not valid" in message
    judge, tokenizer = JsonSchema(), CharTokenizer()
    assert judge.check_task(rollout("7").task, tokenizer) == "has no 'schema', and the recipe names no file with one"
    assert judge.check_task(rollout("7", schema="{").task, tokenizer) is not None
    assert judge.check_task(rollout("7", schema='{"type": "integer"}').task, tokenizer) is None
    assert judge.judge(rollout("7")) == Verdict.abstain("rows.jsonl:5 has no 'schema'")
    assert judge.judge(rollout("7", schema={"type": 3})).kind == "abstain"


def test_no_schema_is_fetched() -> None:
    """A reference to another document is an error, not a request over the network."""
    with pytest.raises(Exception, match="Unresolvable"):
        JsonSchema().judge(rollout("7", schema={"$ref": "http://localhost:9/schema.json"}))


def test_contract() -> None:
    """Judges anything quickly."""
    check_reward(JsonSchema())
