"""The shapes a row may have, told apart by its keys, and how each becomes prompt, answers and recorded attempts.

========================  ==========================================================================================
``search_r1``             ``prompt`` (messages), ``reward_model.ground_truth`` (``.target``), ``data_source``, ``extra_info``
``preference``            ``prompt``, ``chosen``, ``rejected``: two recorded attempts, in this order, with the scores 1 and 0; or
                          ``chosen`` and ``rejected`` are whole conversations, which may repeat ``prompt``
``chat``                  ``messages`` or ``conversations``; a last assistant message is a recorded attempt
``steps``                 ``prompt``, ``completions``, ``labels``: one recorded attempt in steps, with a label from 0 to 1 for each; each but
                          the last ends with a line end
``completion``            ``prompt``, ``completion``: one recorded attempt
``prompt_answer``         ``prompt`` or ``question``, and ``answer``, ``answers`` or ``golden_answers``
========================  ==========================================================================================

Wherever a shape has room for it, one of the answer keys may give gold answers too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeVar

from attrs import frozen

from jackfield.errors import nearest
from jackfield.types import Message
from jackfield_jsonl.messages import read_answer_text, read_messages, read_prompt
from jackfield_jsonl.rows import BadRow, kind

T = TypeVar("T")
Keys = Mapping[str, Any]
ShapeName = Literal["search_r1", "preference", "chat", "steps", "completion", "prompt_answer"]

ANSWERS = ("answer", "answers", "golden_answers")
PROMPTS = ("prompt", "question")
CHATS = ("messages", "conversations")


@frozen(kw_only=True)
class Content:
    """What a row says, whatever its shape."""

    prompt: tuple[Message, ...]
    answers: tuple[str, ...] = ()
    recorded: tuple[tuple[str, ...], ...] = ()
    scores: tuple[float, ...] = ()
    """Of the recorded attempts, where the shape tells which is better."""
    step_labels: tuple[float, ...] = ()
    """Of the turns of the one recorded attempt, where they are labelled steps."""


@frozen
class Shape:
    """How rows of one shape are told and read."""

    told_by: tuple[str, ...]
    """A row with one of these keys has this shape (the first shape that fits)."""
    read: Callable[[Keys], Content]


def read_content(keys: Keys, shape: ShapeName | None) -> Content:
    """A row's content, in the given shape or the one its keys tell. Raises BadRow naming the key at fault."""
    return SHAPES[shape or detect(keys)].read(keys)


def detect(keys: Keys) -> ShapeName:
    """The shape that a row's keys tell. Raises BadRow where none does."""
    for name, shape in SHAPES.items():
        if any(key in keys for key in shape.told_by):
            return name
    told_by = [key for shape in SHAPES.values() for key in shape.told_by]
    raise BadRow("", f"no known shape: {_found(keys)}; expected one of {', '.join(map(repr, told_by))}{_near_miss(keys, told_by)}")


def read_answers(key: str, value: Any) -> tuple[str, ...]:
    """A string, a number, or a list of them."""
    values = value if isinstance(value, list) else [value]
    if not values:
        raise BadRow(key, "is an empty list")
    return tuple(_answer(f"{key}.{n}" if isinstance(value, list) else key, item) for n, item in enumerate(values))


def _search_r1(keys: Keys) -> Content:
    prompt = _take(keys, read_prompt, *PROMPTS)
    reward_model = keys.get("reward_model")
    if not isinstance(reward_model, Mapping):
        raise BadRow(
            "reward_model",
            _missing(keys, "reward_model") if reward_model is None else f"expected an object, found {kind(reward_model)}",
        )
    truth = reward_model.get("ground_truth")
    if truth is None:
        raise BadRow(
            "reward_model.ground_truth", f"is missing or null; {_found(reward_model)}{_near_miss(reward_model, ['ground_truth'])}"
        )
    if not isinstance(truth, Mapping):
        return Content(prompt=prompt, answers=read_answers("reward_model.ground_truth", truth))
    if truth.get("target") is None:
        raise BadRow("reward_model.ground_truth.target", f"is missing or null; {_found(truth)}{_near_miss(truth, ['target'])}")
    return Content(prompt=prompt, answers=read_answers("reward_model.ground_truth.target", truth["target"]))


def _preference(keys: Keys) -> Content:
    if any(key in keys for key in PROMPTS):
        prompt = _take(keys, read_prompt, *PROMPTS)
        chosen, rejected = (_take(keys, partial(_continuation, prompt), key) for key in ("chosen", "rejected"))
    else:
        prompt, chosen, rejected = _preference_of_conversations(keys)
    if chosen == rejected:
        raise BadRow("rejected", "is the same as 'chosen', so nothing is preferred")
    return Content(prompt=prompt, recorded=((chosen,), (rejected,)), scores=(1.0, 0.0), answers=_gold(keys))


def _continuation(prompt: tuple[Message, ...], key: str, value: Any) -> str:
    """What the assistant wrote: text, one message, or a whole conversation that starts with the prompt."""
    if isinstance(value, list) and len(value) > 1:
        messages = read_messages(key, value)
        if messages[:-1] == prompt and messages[-1].role == "assistant":
            return messages[-1].content
        raise BadRow(key, "expected the answer alone, or the messages of 'prompt' followed by one assistant message")
    return read_answer_text(key, value)


def _preference_of_conversations(keys: Keys) -> tuple[tuple[Message, ...], str, str]:
    """Whole conversations that differ in the last message only: what they share, then the two last messages."""
    chosen, rejected = (_take(keys, read_messages, key) for key in ("chosen", "rejected"))
    if chosen[:-1] != rejected[:-1] or {chosen[-1].role, rejected[-1].role} != {"assistant"} or len(chosen) < 2:
        raise BadRow(
            "rejected",
            "without 'prompt', 'chosen' and 'rejected' must be conversations that differ in a last assistant message only",
        )
    return _checked_prompt("chosen", chosen[:-1]), chosen[-1].content, rejected[-1].content


def _chat(keys: Keys) -> Content:
    key = next((key for key in CHATS if key in keys), CHATS[0])
    messages = _take(keys, read_messages, *CHATS)
    recorded = messages[-1].role == "assistant"
    prompt = _checked_prompt(key, messages[:-1] if recorded else messages)
    return Content(prompt=prompt, recorded=((messages[-1].content,),) if recorded else (), answers=_gold(keys))


def _steps(keys: Keys) -> Content:
    """As TRL's stepwise supervision has it; PRM800K and Math-Shepherd are easily written so."""
    steps, labels = _take(keys, _step_texts, "completions"), _take(keys, _labels, "labels")
    if len(labels) != len(steps):
        raise BadRow("labels", f"there are {len(labels)} for {len(steps)} completions")
    return Content(prompt=_take(keys, read_prompt, *PROMPTS), recorded=(steps,), step_labels=labels, answers=_gold(keys))


def _step_texts(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise BadRow(key, f"expected a list of steps, found {'an empty list' if value == [] else kind(value)}")
    *before, last = (read_answer_text(f"{key}.{number}", step) for number, step in enumerate(value))
    return (*(step if step.endswith("\n") else f"{step}\n" for step in before), last)


def _labels(key: str, value: Any) -> tuple[float, ...]:
    if not isinstance(value, list):
        raise BadRow(key, f"expected a list of numbers, found {kind(value)}")
    for number, label in enumerate(value):
        if not isinstance(label, bool | int | float) or not 0 <= label <= 1:
            raise BadRow(f"{key}.{number}", f"expected true, false or a number from 0 to 1, found {label!r}")
    return tuple(float(label) for label in value)


def _completion(keys: Keys) -> Content:
    attempt = _take(keys, read_answer_text, "completion")
    return Content(prompt=_take(keys, read_prompt, *PROMPTS), recorded=((attempt,),), answers=_gold(keys))


def _prompt_answer(keys: Keys) -> Content:
    return Content(prompt=_take(keys, read_prompt, *PROMPTS), answers=_gold(keys))


SHAPES: Mapping[ShapeName, Shape] = {
    "search_r1": Shape(("reward_model",), _search_r1),
    "preference": Shape(("chosen", "rejected"), _preference),
    "chat": Shape(CHATS, _chat),
    "steps": Shape(("completions",), _steps),
    "completion": Shape(("completion",), _completion),
    "prompt_answer": Shape(PROMPTS, _prompt_answer),
}


def missing_answer(keys: Keys) -> str:
    """What to say of a row that has neither gold answers nor a recorded attempt."""
    return f"no gold answer: {_found(keys)}; expected one of {', '.join(map(repr, ANSWERS))}{_near_miss(keys, ANSWERS)}"


def _take(keys: Keys, read: Callable[[str, Any], T], *names: str) -> T:
    """The value of the first of ``names`` that the row has."""
    for name in names:
        if name in keys:
            return read(name, keys[name])
    raise BadRow(names[0], _missing(keys, *names))


def _gold(keys: Keys) -> tuple[str, ...]:
    return next((read_answers(name, keys[name]) for name in ANSWERS if name in keys), ())


def _checked_prompt(key: str, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    if not any(m.role == "user" for m in messages):
        raise BadRow(key, "has no user message before the assistant's answer")
    if messages[-1].role == "assistant":
        raise BadRow(key, "ends with two assistant messages")
    return messages


def _answer(key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise BadRow(key, f"expected text or a number, found {kind(value)}")
    text = str(value)
    if not text.strip():
        raise BadRow(key, "is empty")
    return text


def _missing(keys: Keys, *names: str) -> str:
    also = f" (or {' or '.join(map(repr, names[1:]))})" if names[1:] else ""
    return f"is missing or null{also}; {_found(keys)}{_near_miss(keys, names)}"


def _found(keys: Keys) -> str:
    return f"found the keys {', '.join(map(repr, keys))}" if keys else "found no keys"


def _near_miss(keys: Keys, names: tuple[str, ...] | list[str]) -> str:
    """``"; did you mean 'answer' by 'anwser'?"`` for the first key of the row that is nearly one of ``names``."""
    for key in keys:
        if key not in names and (hint := nearest(key, names)).startswith("; did you mean"):
            return f"{hint.removesuffix('?')} by '{key}'?"
    return ""
