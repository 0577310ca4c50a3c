"""How a reward model reads a rollout: by its ids where its tokenizer is the policy's, else by its text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from attrs import define, field

from jackfield.stages import Tokenizer
from jackfield.types import IntArray, Message, Rollout
from jackfield_transformers.tokenizer import HfTokenizer

_USER = Message(role="user", content="a b")
_PROBES = (
    (_USER,),
    (Message(role="system", content="c d"), _USER),
    (_USER, Message(role="assistant", content="e f"), _USER),
)
"""Prompts that show how a chat template treats every role."""


@define(kw_only=True, eq=False)
class Reader:
    """From a rollout of the policy to the ids that a reward model reads.

    By text, the prompt goes through the reward model's own chat template, and what was written after it (by the policy and by the
    environment, in order) is the answer: encoded apart, so that nothing in it can spell a control token. A turn that the policy
    ended is ended for the reward model too; one that was cut off is not.
    """

    own: HfTokenizer
    policy: Tokenizer
    trained_here: bool
    by_ids: bool = field(init=False)
    """The rollout's ids are read as they are."""
    _empty: IntArray = field(init=False, factory=lambda: np.zeros(0, np.int64))

    def __attrs_post_init__(self) -> None:
        self.by_ids = same_vocabulary(self.own, self.policy) and _same_prompts(self.own, self.policy)

    def ids(self, rollout: Rollout) -> IntArray:
        """[L] one sequence, with exactly one BOS if the reward model uses one."""
        ended = self._ended(rollout)
        if self.by_ids:
            return np.concatenate([rollout.tokens, self._after_eos]) if ended else rollout.tokens
        written = self.own.encode("".join(segment.text for segment in rollout.segments if segment.writer != "task"))
        before, after = self._around(rollout.task.prompt)
        return np.concatenate([before, written, after] if ended else [before, written])

    def turns(self, rollout: Rollout) -> tuple[IntArray, IntArray]:
        """[L] the same, and the last token of every turn of the policy; of a turn without tokens the one before it.

        By text every turn is encoded apart, as a recorded one is, so that a token ends where a turn does.
        """
        pieces = [segment.tokens for segment in rollout.segments]
        if not self.by_ids:
            pieces = [self.own.encode(s.text) if s.writer != "task" else self._empty for s in rollout.segments]
            before, after = self._around(rollout.task.prompt)
            pieces[0] = np.concatenate([before, pieces[0]])
            if self._ended(rollout):
                pieces[-1] = np.concatenate([pieces[-1], after])
        ends = np.cumsum([len(piece) for piece in pieces]) - 1
        written = [segment.writer == "policy" for segment in rollout.segments]
        return np.concatenate([*pieces, self._empty]), ends[np.array(written, np.bool_)]

    def _ended(self, rollout: Rollout) -> bool:
        """The policy ended its last turn itself."""
        return rollout.segments[-1].writer == "policy" and int(rollout.tokens[-1]) in self.policy.eos_ids

    def _around(self, prompt: Sequence[Message]) -> tuple[IntArray, IntArray]:
        """What was before and after an answer in training: in a rollout's ids, or where a template has written a whole conversation."""
        if self.trained_here:
            return self.own.chat(prompt), np.array([self.own.eos_id], np.int64)
        return self.own.around_answer(prompt)

    @cached_property
    def _after_eos(self) -> IntArray:
        """What the template writes after the token that ends a turn, often a line end."""
        _, after = self._around((_USER,))
        ends = np.flatnonzero(after == self.own.eos_id)
        return after[ends[0] + 1 :] if len(ends) else after[:0]


def same_vocabulary(own: HfTokenizer, other: Tokenizer) -> bool:
    """Whether both make the same ids of every text: the same vocabulary, merges, added tokens and preparation of text."""
    if not isinstance(other, HfTokenizer):
        return False
    digest = _digest(own.inner)
    return digest is not None and digest == _digest(other.inner)


def _digest(inner: Any) -> str | None:
    """Of what ``tokenizer.json`` says of ids; None for a tokenizer that has no such file."""
    backend = getattr(inner, "backend_tokenizer", None)
    if backend is None:
        return None
    content = json.loads(backend.to_str())
    told = {key: content[key] for key in ("added_tokens", "normalizer", "pre_tokenizer", "model")}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _same_prompts(own: HfTokenizer, other: Tokenizer) -> bool:
    return own.eos_id == other.eos_id and all(_prompt(own, probe) == _prompt(other, probe) for probe in _PROBES)


def _prompt(tokenizer: Tokenizer, messages: Sequence[Message]) -> list[int] | None:
    """None where the template refuses such messages, as some refuse a system message."""
    from jinja2 import TemplateError

    try:
        ids: list[int] = tokenizer.chat(messages).tolist()
    except TemplateError:
        return None
    return ids
