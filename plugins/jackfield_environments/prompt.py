"""How a task becomes a prompt: the recipe's template around the question, a system message and worked examples before it."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from attrs import evolve

from jackfield.errors import DataError, Problem
from jackfield.types import Message, Task

NOTHING: Mapping[str, str] = MappingProxyType({})


def holds_placeholder(name: str, *optional: str) -> Callable[[Any], str | None]:
    """A check for ``option``: the text has ``{name}``, and beside it no placeholder but ``optional`` ones."""

    def check(text: Any) -> str | None:
        try:
            parsed = [
                (found, spec, conversion) for _, found, spec, conversion in string.Formatter().parse(text) if found is not None
            ]
        except ValueError as error:
            return f"{error}; write {{{{ and }}}} for braces that are meant as text"
        written = [
            f"{found}{'!' * bool(conversion)}{conversion or ''}{':' * bool(spec)}{spec}" for found, spec, conversion in parsed
        ]
        unknown = [place for place in written if place not in (name, *optional)]
        if unknown:
            listed = ", ".join(f"{{{place}}}" for place in unknown)
            filled = " and ".join(f"{{{known}}}" for known in (name, *optional))
            return f"unknown placeholder {listed}; filled in: {filled}; write {{{{ and }}}} for braces that are meant as text"
        if name not in [found for found, _, _ in parsed]:
            return f"lacks {{{name}}}, the place where the {name} goes"
        return None

    return check


def fill(template: str, values: Mapping[str, str]) -> str:
    """``template`` with the placeholders of ``values`` filled in; others, and doubled braces, stay for ``str.format``."""
    filled = ""
    for literal, name, _, _ in string.Formatter().parse(template):
        filled += _escaped(literal)
        if name is not None:
            filled += _escaped(values[name]) if name in values else f"{{{name}}}"
    return filled


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def prompt_problem(task: Task, system: str) -> str | None:
    """Why no prompt can be made of a task: no user message, or a system message of its own although the recipe sets one."""
    if not any(m.role == "user" for m in task.prompt):
        return "no message of role 'user', so there is no question"
    if system and any(m.role == "system" for m in task.prompt):
        return "the row has a system message and the recipe sets rollout.system; drop one of them, they are not merged"
    return None


def prompt_messages(
    task: Task, template: str, system: str, examples: Mapping[str, str] = NOTHING, information: Mapping[str, str] = NOTHING
) -> list[Message]:
    """The task's messages with its question (the last user message) put into ``template``. In front of them ``system``, if there is one,
    and ``examples`` (question → answer) as earlier turns of the conversation, their questions put into ``template`` as well.

    ``template="{question}"`` leaves the messages as they are: for rows that carry a full prompt. ``information`` (question → what was
    found for it) is for templates with that placeholder.
    Raises DataError for a task that ``prompt_problem`` finds something wrong with.
    """
    problem = prompt_problem(task, system)
    if problem is not None:
        raise DataError(Problem(task.origin or task.id, "prompt", problem))

    def ask(question: str) -> str:
        return template.format(question=question, information=information.get(question, ""))

    messages = list(task.prompt)
    last_user = max(i for i, m in enumerate(messages) if m.role == "user")
    messages[last_user] = evolve(messages[last_user], content=ask(task.question))
    if system:
        messages.insert(0, Message(role="system", content=system))
    start = next(i for i, m in enumerate(messages) if m.role != "system")
    shown = [
        Message(role=role, content=text)
        for question, answer in examples.items()
        for role, text in (("user", ask(question)), ("assistant", answer))
    ]
    return [*messages[:start], *shown, *messages[start:]]
