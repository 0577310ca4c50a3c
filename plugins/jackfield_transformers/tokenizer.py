"""Ids to text and back, through a transformers tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jackfield.errors import Problem, RecipeError
from jackfield.types import IntArray, Message

_MARK = "jackfield"
"""An answer to find again in what a chat template made of it."""


class HfTokenizer:
    """A ``stages.Tokenizer`` on a transformers tokenizer, whose own special-token habits are all switched off.

    A prompt is rendered to text by the chat template once and encoded once. Without a chat template it is the contents of the
    messages, in order, joined by a newline, with nothing after the last.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.eos_id: int = _turn_end(inner)
        self.eos_ids = frozenset({self.eos_id, self.eos_id if inner.eos_token_id is None else int(inner.eos_token_id)})
        self._bos_id = _sequence_start(inner)

    def encode(self, text: str) -> IntArray:
        """[L] ids of ``text`` alone: no BOS, no EOS; what is spelt like a special token is ordinary text."""
        return self._ids(text, split_special_tokens=True)

    def decode(self, ids: IntArray) -> str:
        """Text of all of ``ids`` at once, special tokens visible, nothing cleaned up."""
        text: str = self.inner.decode(np.asarray(ids).tolist(), skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text

    def chat(self, messages: Sequence[Message]) -> IntArray:
        """[L] ids of a prompt, ending where the assistant's answer starts.

        The sequence starts with exactly one BOS if the model uses one, whether or not the template writes it too.
        """
        return self._with_one_bos(self._ids(self._render(messages), split_special_tokens=False))

    def around_answer(self, messages: Sequence[Message]) -> tuple[IntArray, IntArray]:
        """[L], [M] ids before and after an assistant's answer in a finished conversation; exactly one BOS if the model uses one.

        Without a chat template they are the contents as in ``chat``, and what the tokenizer puts around a text (``[CLS]``, ``[SEP]``).
        """
        if self.inner.chat_template is None:
            text = "\n".join(message.content for message in messages)
            plain = self.inner.encode(_MARK, add_special_tokens=False)
            framed = self.inner.encode(_MARK)
            start = next(i for i in range(len(framed)) if framed[i : i + len(plain)] == plain)
            before = [np.array(framed[:start], np.int64), self._ids(text, split_special_tokens=True)]
            return np.concatenate(before), np.array(framed[start + len(plain) :], np.int64)
        answered = [*messages, Message(role="assistant", content=_MARK)]
        before_text, _, after_text = _apply_template(self.inner, answered, add_generation_prompt=False).rpartition(_MARK)
        before_ids = self._with_one_bos(self._ids(before_text, split_special_tokens=False))
        return before_ids, self._ids(after_text, split_special_tokens=False)

    def _with_one_bos(self, ids: IntArray) -> IntArray:
        if self._bos_id is None:
            return ids
        leading = int(np.argmin(np.append(ids, -1) == self._bos_id))
        return np.concatenate([[self._bos_id], ids[leading:]])

    def _ids(self, text: str, *, split_special_tokens: bool) -> IntArray:
        found = self.inner.encode(text, add_special_tokens=False, verbose=False, split_special_tokens=split_special_tokens)
        return np.asarray(found, np.int64)

    def save(self, folder: Path) -> None:
        """The tokenizer's files, as ``AutoTokenizer.from_pretrained`` reads them."""
        self.inner.save_pretrained(folder)

    def _render(self, messages: Sequence[Message]) -> str:
        if self.inner.chat_template is None:
            return "\n".join(message.content for message in messages)
        return _apply_template(self.inner, messages, add_generation_prompt=True)


def _apply_template(inner: Any, messages: Sequence[Message], *, add_generation_prompt: bool) -> str:
    conversation = [{"role": message.role, "content": message.content} for message in messages]
    text: str = inner.apply_chat_template(conversation, tokenize=False, add_generation_prompt=add_generation_prompt)
    return text


def _sequence_start(inner: Any) -> int | None:
    """The BOS id if the tokenizer puts one before a text; some have a BOS token and never use it."""
    started: list[int] = inner.encode("")
    return inner.bos_token_id if started and started[0] == inner.bos_token_id else None


def _turn_end(inner: Any) -> int:
    """The id that ends an assistant turn: the first special token the chat template writes after one, else the tokenizer's EOS.

    (A base model's EOS ends documents, not turns: Qwen2.5's is ``<|endoftext|>``, its turns end with ``<|im_end|>``.) An encoder's
    text ends with its separator.
    """
    if inner.chat_template is not None:
        turns = (Message(role="user", content="?"), Message(role="assistant", content=_MARK))
        after = _apply_template(inner, turns, add_generation_prompt=False).rpartition(_MARK)[2]
        added = inner.added_tokens_decoder
        for token in inner.encode(after, add_special_tokens=False):
            if token in added and added[token].special:
                return int(token)
    ending = inner.eos_token_id if inner.eos_token_id is not None else inner.sep_token_id
    if ending is None:
        raise RecipeError(
            Problem("", "model", f"the tokenizer of {inner.name_or_path!r} has no token that ends a turn (eos_token)")
        )
    return int(ending)
