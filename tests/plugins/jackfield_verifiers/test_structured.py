from __future__ import annotations

import json
import time
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
        '<answer>{"name": "\\\\boxed{x"}</answer>',
        '```text\nAda\n```\nthat is\n```json\n{"name": "Ada"}\n```',
        '```json\n{"name": "Ada"}\n```\nas in\n```python\n1\n```\nor\n```python\n2\n```',
        '```json\n{"no": 1}\n```json\n{"name": "Ada"}\n```',
        '```JSON\r\n{"name": "Ada"}\r\n```\r\n',
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
        ('```text\nAda\n```\n{"name": "Ada"}\n```text\nAda\n```', "not JSON: Expecting value: line 1 column 1 (char 0)"),
        ('<answer>\\boxed{"name": "Ada"}</answer>', "not JSON: Expecting value: line 1 column 1 (char 0)"),
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


DRAFT_4 = "http://json-schema.org/draft-04/schema#"


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (3, "'schema' must be a JSON schema, an object, found '3' (int)"),
        ("[]", "'schema' must be a JSON schema, an object, found '[]' (list)"),
        (True, "'schema' must be a JSON schema, an object, found 'True' (bool)"),
        ("{", "'schema' is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ('{"not":' * 5000 + "1" + "}" * 5000, "'schema' is not JSON: maximum recursion depth exceeded"),
        ({"$schema": []}, "'schema' is no JSON schema: $['$schema']: [] is not of type 'string'"),
        ({"type": "integr"}, "'schema' is no JSON schema: $.type: 'integr' is not valid under any of the given schemas"),
        ({"pattern": "("}, "'schema' is no JSON schema: $.pattern: '(' is not a 'regex'"),
        ({"$id": "http://[", "type": "string"}, "'schema' is no JSON schema: Invalid IPv6 URL"),
        ({"items": {"$ref": "#/no"}}, "'schema': nothing in it is called '#/no'; other documents are not fetched"),
        ({"$dynamicRef": "#no"}, "'schema': nothing in it is called '#no'; other documents are not fetched"),
        ({"$ref": "#/title/x", "title": "y"}, "'schema': nothing in it is called '#/title/x'; other documents are not fetched"),
        (
            {"$ref": "http://localhost:9/a"},
            "'schema': nothing in it is called 'http://localhost:9/a'; other documents are not fetched",
        ),
        (
            {"$ref": "#/enum", "enum": [3]},
            "'schema': what '#/enum' refers to is no JSON schema: $: [3] is not of type 'object', 'boolean'",
        ),
        (
            {"$ref": "#/x", "x": {"items": {"$ref": "#/y"}}},
            "'schema': nothing in it is called '#/y'; other documents are not fetched",
        ),
        ({"$ref": "#"}, "'schema': a reference leads back to itself: {'$ref': '#'}"),
    ],
)
def test_odd_schemas(schema: Any, message: str) -> None:
    """Refused when the row is checked, whatever the policy would write; nothing is fetched over the network."""
    odd = rollout("7", schema=schema)
    found = JsonSchema().check_task(odd.task, CharTokenizer())
    assert (found or "")[: len(message)] == message
    assert JsonSchema().judge(odd) == Verdict.abstain(f"rows.jsonl:5: {found}")


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"$ref": "#"}, "type": ["array", "integer"]},
        {"items": {"$ref": "#t"}, "$defs": {"t": {"$anchor": "t", "items": {"$ref": "#t"}, "type": ["array", "integer"]}}},
        {
            "$schema": DRAFT_4,
            "id": "http://x/y",
            "items": {"$ref": "y#/definitions/a"},
            "definitions": {"a": {"type": ["array", "integer"]}},
        },
        {"items": {"enum": [7, [7], {"$ref": "nowhere"}]}},
        {"items": {"anyOf": [{"type": "integer"}, {"$ref": DRAFT_4}, {"type": "array"}]}},
    ],
)
def test_references(schema: Any) -> None:
    """Back to the whole, by anchor, by identifier, to a known meta-schema; one in a value is none."""
    judge = JsonSchema()
    assert judge.check_task(rollout("", schema=schema).task, CharTokenizer()) is None
    assert judge.judge(rollout("[7, [7]]", schema=schema)).value == 1
    assert judge.judge(rollout('["x"]', schema=schema)).value == 0


def test_a_schema_file_that_is_no_text(tmp_path: Path) -> None:
    """It is told like any other."""
    (tmp_path / "schema.json").write_bytes(b"{\xff")
    [message] = JsonSchema(schema=tmp_path / "schema.json").check_recipe(NO_CORRIDOR)
    assert message.startswith(f"{tmp_path / 'schema.json'} is not JSON: 'utf-8' codec can't decode byte 0xff")


@pytest.mark.parametrize("piece", ["```\n", "```json\n", "`", " ", "a", "\n"])
def test_is_quick(piece: str) -> None:
    """S10: 100,000 degenerate characters are read at once."""
    start = time.process_time()
    judged("```" + piece * (100_000 // len(piece)) + "`")
    assert time.process_time() - start < 2


def test_contract() -> None:
    """Judges anything quickly."""
    check_reward(JsonSchema())
