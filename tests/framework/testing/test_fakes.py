from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackfield.testing.fakes import CharTokenizer, ScriptedEngine, ScriptedSession, ScriptedTool
from jackfield.types import Message, Task


def open_session(*script: str | list[int], tokenizer: CharTokenizer | None = None) -> ScriptedSession:
    tokenizer = tokenizer or CharTokenizer()
    prompt = tokenizer.encode("?")
    return ScriptedEngine(tokenizer, script).open(
        prompt, task=Task(id="t", prompt=()), member=0, prefix="0/0", seed=1, temperature=1.0
    )


@given(st.text())
def test_encoding_is_undone_by_decoding(text: str) -> None:
    """Any text comes back, also where pieces and the EOS text are in it."""
    tokenizer = CharTokenizer(pieces=("ab", "abc"))
    assert tokenizer.decode(tokenizer.encode(text + "abcab<eos>")) == text + "abcab<eos>"


def test_longest_piece_wins() -> None:
    """T1: ids chosen otherwise give the same text and are not what encoding it gives."""
    tokenizer = CharTokenizer(pieces=("he", "hello", "llo"))
    ids = [tokenizer.id_of("he"), tokenizer.id_of("llo")]
    assert tokenizer.encode("hello").tolist() == [tokenizer.id_of("hello")]
    assert tokenizer.decode(ids) == "hello"  # type: ignore[arg-type]


def test_chat_ends_where_the_answer_starts() -> None:
    """A prompt shows its roles and ends with the assistant's."""
    tokenizer = CharTokenizer()
    assert tokenizer.decode(tokenizer.chat([Message(role="user", content="hi")])) == "[user]hi\n[assistant]"


def test_turns_end_by_stop_eos_or_length() -> None:
    """A turn ends with the token that completes a stop string, with EOS (not in its text), or with the budget."""
    session = open_session("a</s>b", "cd", "efg")
    stop, eos, length = (asyncio.run(session.generate(n, ["</s>"])) for n in (9, 9, 3))
    assert (stop.text, stop.ended_by, len(stop.tokens)) == ("a</s>", "stop", 5)
    assert (eos.text, eos.ended_by, eos.tokens.tolist()) == ("cd", "eos", [99, 100, CharTokenizer().eos_id])
    assert (length.text, length.ended_by) == ("efg", "length")
    assert all(t.logp is not None and t.logp.shape == t.tokens.shape and (t.logp < 0).all() for t in (stop, eos, length))


def test_script_over() -> None:
    """After the script there is only EOS."""
    turn = asyncio.run(open_session().generate(5, []))
    assert (turn.text, turn.ended_by, turn.tokens.tolist()) == ("", "eos", [CharTokenizer().eos_id])


def test_stop_string_inside_a_token() -> None:
    """The token in which a stop string ends is kept whole, in ids and text."""
    tokenizer = CharTokenizer(pieces=("> so",))
    turn = asyncio.run(open_session([ord("x"), tokenizer.id_of("> so"), ord("!")], tokenizer=tokenizer).generate(9, ["x>"]))
    assert (turn.text, turn.ended_by) == ("x> so", "stop")


def test_no_budget_is_an_error() -> None:
    """An environment that asks for a turn of no tokens is wrong."""
    with pytest.raises(ValueError, match="at least one token"):
        asyncio.run(open_session("a").generate(0, []))


def test_tool_keeps_its_calls() -> None:
    """The tool gives what it was told to give and remembers what it was asked."""
    tool = ScriptedTool(name="look", parts=(), failure="closed")
    assert asyncio.run(tool.call("x")).failure == "closed"
    assert tool.calls == ["x"]
