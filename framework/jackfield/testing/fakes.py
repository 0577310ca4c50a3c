"""Stand-ins for a model's tokenizer, an engine and a tool: small, exact, without torch. Good for tests of environments and rewards.

Example::

    tokenizer = CharTokenizer()
    engine = ScriptedEngine(tokenizer, ["<search>paris</search>", "<answer>France</answer>"])
    players = Players(environment=environment, engine=engine, tokenizer=tokenizer, tools={"search": ScriptedTool()}, run_seed=0)
    [group] = play(players, [task], step=0, group_size=1, temperature=1.0)
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from attrs import define, field

from jackfield.stages import LanguageModel, Tokenizer, Turn
from jackfield.types import IntArray, Message, Observation

EOS_TEXT = "<eos>"
_EOS = 0x110000
"""Above every code point; the pieces follow it."""


@define(eq=False)
class CharTokenizer:
    """One token a character (its code point), one for ``<eos>``, and multi-character ``pieces`` as a real vocabulary has them.

    Encoding takes the longest piece, so that ids a policy chose otherwise do not survive being encoded again.

    Example: ``CharTokenizer(pieces=("hello", "he", "llo")).encode("hello")`` is one id; ``he`` and ``llo`` decode to the same text.
    """

    pieces: tuple[str, ...] = ()
    eos_id: int = field(default=_EOS, init=False)
    eos_ids: frozenset[int] = field(default=frozenset({_EOS}), init=False)

    def encode(self, text: str) -> IntArray:
        """[L] ids; ``<eos>`` in the text is the special token."""
        return np.array([self.id_of(piece) for piece in self._pattern().findall(text)], np.int64)

    def decode(self, ids: IntArray) -> str:
        return "".join(self._text_of(int(token)) for token in ids)

    def chat(self, messages: Sequence[Message]) -> IntArray:
        """``[role]content`` a message, one a line, then ``[assistant]``."""
        return self.encode("".join(f"[{m.role}]{m.content}\n" for m in messages) + "[assistant]")

    def id_of(self, piece: str) -> int:
        """The id of one character, of ``<eos>`` or of one of ``pieces``."""
        if piece == EOS_TEXT:
            return self.eos_id
        return ord(piece) if len(piece) == 1 else _EOS + 1 + self.pieces.index(piece)

    def _text_of(self, token: int) -> str:
        if token == self.eos_id:
            return EOS_TEXT
        return self.pieces[token - _EOS - 1] if token > _EOS else chr(token)

    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted((EOS_TEXT, *self.pieces), key=len, reverse=True)
        return re.compile("|".join([*map(re.escape, longest_first), "."]), re.DOTALL)


@define(eq=False)
class ScriptedSession:
    """One rollout against a script; keeps what it saw, for a test to look at."""

    tokenizer: Tokenizer
    script: Sequence[str | Sequence[int]]
    context: list[int]
    """Every id so far: prompt, sampled, extended, in order."""
    sampled: list[list[int]] = field(factory=list)
    """The ids of every turn."""
    stops: list[tuple[str, ...]] = field(factory=list)
    """The stop strings of every turn."""
    member: int = 0
    closed: bool = False

    def extend(self, tokens: IntArray) -> None:
        self.context += tokens.tolist()

    async def generate(self, max_new_tokens: int, stop: Sequence[str]) -> Turn:
        """The script's next turn up to a stop string or the budget, else with EOS at its end; only EOS when the script is over."""
        if max_new_tokens < 1:
            raise ValueError(f"a turn needs a budget of at least one token, got {max_new_tokens}")
        await asyncio.sleep(0)  # other rollouts get their turn in between, as with any engine
        scripted = self.script[len(self.sampled)] if len(self.sampled) < len(self.script) else ""
        ids = [*(self.tokenizer.encode(scripted) if isinstance(scripted, str) else scripted), self.tokenizer.eos_id]
        ended_by, length = self._end(ids, max_new_tokens, stop)
        tokens = np.array(ids[:length], np.int64)
        self.sampled.append(tokens.tolist())
        self.stops.append(tuple(stop))
        self.context += tokens.tolist()
        text = self.tokenizer.decode(tokens[:-1] if ended_by == "eos" else tokens)
        return Turn(tokens=tokens, text=text, logp=(-0.1 * (1 + tokens % 7)).astype(np.float32), ended_by=ended_by)

    def close(self) -> None:
        self.closed = True

    def _end(self, ids: Sequence[int], budget: int, stop: Sequence[str]) -> tuple[Literal["stop", "eos", "length"], int]:
        window, reach = "", max(map(len, stop), default=0)
        for count, token in enumerate(ids[:budget], 1):
            if token == self.tokenizer.eos_id:
                return "eos", count
            piece = self.tokenizer.decode(np.array([token]))
            window += piece
            if any(s in window for s in stop):
                return "stop", count
            window = window[-reach:] if reach else ""
        return "length", budget


@define(eq=False)
class ScriptedEngine:
    """Plays the same ``script`` in every session: one entry a turn, a text or the ids themselves.

    Example: ``ScriptedEngine(tokenizer, ["<search>paris</search>", [104, 105]])``
    """

    tokenizer: Tokenizer
    script: Sequence[str | Sequence[int]] = ()
    sessions: list[ScriptedSession] = field(factory=list, init=False)
    holds: ClassVar[str] = ""
    samples: ClassVar[bool] = True

    def start(self, policy: LanguageModel, tokenizer: Tokenizer) -> None:
        """Nothing to load."""

    def refresh(self, policy_version: int) -> None:
        """Nothing to forget."""

    def open(self, prompt: IntArray, *, member: int, **_: Any) -> ScriptedSession:
        session = ScriptedSession(self.tokenizer, self.script, prompt.tolist(), member=member)
        self.sessions.append(session)
        return session


@define(kw_only=True)
class ScriptedTool:
    """Gives the same observation to every call, and keeps the calls."""

    name: str = "search"
    parts: tuple[str, ...] = ("Doc 1 (Title: Paris) Paris is the capital of France.",)
    failure: str | None = None
    calls: list[str] = field(factory=list, init=False)

    def prepare(self) -> None:
        """Nothing to build."""

    async def call(self, text: str) -> Observation:
        self.calls.append(text)
        return Observation(parts=self.parts, failure=self.failure)
