"""What the policy asks for: reading one tagged action out of the text of a turn."""

from __future__ import annotations

import re
from collections.abc import Collection

from attrs import frozen

QUOTED = 60
"""At most so many characters of the policy's text are quoted back to it."""


@frozen
class Action:
    """A complete ``<tag>content</tag>``.

    Example: ``Action("search", "capital of France")``
    """

    tag: str
    content: str


@frozen
class NoAction:
    """Why a text holds no complete action, in words for the policy.

    Example: ``NoAction("<search> was never closed: '<search>capital of'")``
    """

    problem: str


def read_action(text: str, tags: Collection[str]) -> Action | NoAction:
    """The action whose closing tag comes first; generation stops there.

    Its content starts at the nearest opening tag of the same name before it and is stripped of white space at both ends. Where the
    action stands makes no difference: also inside ``<think>`` or inside an ``<information>`` block that the policy forged, it is
    the policy's action. One pass, linear in the text.
    """
    opened: dict[str, int] = {}
    unopened = ""
    for found in re.finditer(rf"<(/?)({'|'.join(map(re.escape, tags))})>", text):
        closing, tag = found.groups()
        if not closing:
            opened[tag] = found.end()
        elif tag in opened:
            return Action(tag, text[opened[tag] : found.start()].strip())
        else:
            unopened = unopened or found.group()
    if opened:
        tag, start = max(opened.items(), key=lambda item: item[1])
        return NoAction(f"<{tag}> was never closed: {_quote(f'<{tag}>' + text[start : start + QUOTED + 1])}")
    if unopened:
        return NoAction(f"{unopened} closes nothing, its opening tag is missing")
    return NoAction(f"it holds no {one_of(tags)}")


def one_of(tags: Collection[str]) -> str:
    """The possible actions in words: ``<search>…</search> or <answer>…</answer>``."""
    return " or ".join(f"<{tag}>…</{tag}>" for tag in tags)


def _quote(text: str) -> str:
    return f"'{text}'" if len(text) <= QUOTED else f"'{text[:QUOTED]}…'"
