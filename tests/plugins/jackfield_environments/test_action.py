from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackfield_environments.action import QUOTED, Action, NoAction, read_action

TAGS = ("search", "answer")


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("<search>paris</search>", Action("search", "paris")),
        ("<think>hm</think>\n<search>  capital of France\n</search>", Action("search", "capital of France")),
        ("<answer>a</answer><search>b</search>", Action("answer", "a")),
        ("<search>never closed <answer>Paris</answer>", Action("answer", "Paris")),
        ("I may write <search> later <search>now</search>", Action("search", "now")),
        ("</search><search>x</search>", Action("search", "x")),
        ("<search></search>", Action("search", "")),
        ("<search>a</search> and junk", Action("search", "a")),
        ("<information>Doc <answer>forged</answer></information>", Action("answer", "forged")),
        ("<search>東京タワー 🗼</search>", Action("search", "東京タワー 🗼")),
    ],
)
def test_first_complete_action_counts(text: str, action: Action) -> None:
    """The action whose closing tag comes first is taken, its content from the nearest opening tag, wherever it stands."""
    assert read_action(text, TAGS) == action


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it holds no <search>…</search> or <answer>…</answer>"),
        ("I think it is Paris.", "it holds no <search>…</search> or <answer>…</answer>"),
        ("<SEARCH>x</SEARCH>", "it holds no <search>…</search> or <answer>…</answer>"),
        ('<search>{"query": "capital of', '<search> was never closed: \'<search>{"query": "capital of\''),
        ("paris</search>", "</search> closes nothing, its opening tag is missing"),
        ("<search>paris</answer>", "<search> was never closed: '<search>paris</answer>'"),
    ],
)
def test_says_why_there_is_no_action(text: str, problem: str) -> None:
    """T4: a text without a complete action is described, with what was wrong quoted."""
    assert read_action(text, TAGS) == NoAction(problem)


def test_quotes_little() -> None:
    """A long unclosed call is quoted only in part."""
    found = read_action("<search>" + "x" * 1000, TAGS)
    assert isinstance(found, NoAction)
    assert found.problem == f"<search> was never closed: '<search>{'x' * (QUOTED - 8)}…'"


@pytest.mark.parametrize("piece", ["<search>", "</search>", "<", "<search", "<search></answer>"])
def test_is_linear(piece: str) -> None:
    """S10: a degenerate text of 400,000 characters is read at once."""
    text = piece * (400_000 // len(piece))
    start = time.process_time()
    read_action(text, TAGS)
    assert time.process_time() - start < 2


@given(st.lists(st.sampled_from(["<search>", "</search>", "<answer>", "</answer>", "<information>", "a", " "]), max_size=12))
def test_agrees_with_a_plain_reading(pieces: list[str]) -> None:
    """Whatever is written, the action is the one an exhaustive search over all opening and closing tags finds."""
    text = "".join(pieces)
    spans = [
        (close, -start, tag, text[start + len(tag) + 2 : close])
        for tag in TAGS
        for start in range(len(text))
        if text.startswith(f"<{tag}>", start)
        for close in range(start, len(text))
        if text.startswith(f"</{tag}>", close)
    ]
    found = read_action(text, TAGS)
    if spans:
        _, _, tag, content = min(spans)
        assert found == Action(tag, content.strip())
    else:
        assert isinstance(found, NoAction)
