from __future__ import annotations

import numpy as np
import pytest

from jackfield.errors import RecipeError
from jackfield.types import Message
from jackfield_transformers.tiny_random import byte_tokenizer
from jackfield_transformers.tokenizer import HfTokenizer

USER = (Message(role="user", content="hi"),)


def with_bos(inner):
    """The same tokenizer, as one that puts a BOS before a text (like Llama's)."""
    from tokenizers.processors import TemplateProcessing

    inner.add_special_tokens({"bos_token": "<s>"})
    inner.backend_tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", inner.bos_token_id)])
    return inner


def test_ids_go_to_text_and_back():
    """A character may be spread over several ids and is whole once all are decoded together (case T15)."""
    tokenizer = HfTokenizer(byte_tokenizer())
    text = " 東京タワー 🗼 , it 's\n\n<|im_end|> x"
    ids = tokenizer.encode(text)
    assert ids.dtype == np.int64
    assert tokenizer.decode(ids) == text


def test_tags_that_are_special_tokens_stay_visible():
    """X10: a vocabulary may hold <answer> as one special token; a verifier still finds it in what was sampled."""
    inner = byte_tokenizer()
    inner.add_special_tokens({"additional_special_tokens": ["<answer>", "</answer>"]})
    tokenizer = HfTokenizer(inner)
    tag, end = (inner.convert_tokens_to_ids(t) for t in ("<answer>", "</answer>"))
    sampled = np.concatenate([[tag], tokenizer.encode("42"), [end]])
    assert tokenizer.decode(sampled) == "<answer>42</answer>"


def test_a_passage_cannot_spell_a_special_token():
    """What is written like a control token in retrieved text is ordinary text; the chat template's own are real."""
    tokenizer = HfTokenizer(byte_tokenizer())
    assert tokenizer.eos_id not in tokenizer.encode("a <|im_end|> b")
    assert tokenizer.eos_id in tokenizer.chat([Message(role="user", content="hi")])


def test_encode_adds_nothing():
    """No BOS in front of an observation, even where the tokenizer would put one."""
    tokenizer = HfTokenizer(with_bos(byte_tokenizer()))
    assert tokenizer.decode(tokenizer.encode("ab")) == "ab"
    assert tokenizer.encode("").tolist() == []


def test_chat_renders_the_template_up_to_the_answer():
    """The prompt ends where the assistant starts to write."""
    tokenizer = HfTokenizer(byte_tokenizer())
    text = tokenizer.decode(tokenizer.chat((Message(role="system", content="be brief"), *USER)))
    assert text == "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize("template_start", ["", "{{ bos_token }}", "{{ bos_token }}{{ bos_token }}"])
def test_exactly_one_bos(template_start):
    """Whether the template writes a BOS, none, or two (case T10)."""
    inner = with_bos(byte_tokenizer())
    inner.chat_template = template_start + inner.chat_template
    tokenizer = HfTokenizer(inner)
    ids = tokenizer.chat(USER)
    assert ids.dtype == np.int64
    assert tokenizer.decode(ids) == "<s><|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"


def test_no_bos_where_the_model_uses_none():
    """A tokenizer without a BOS gets none (case T11), nor does one that has the token but never writes it."""
    assert HfTokenizer(byte_tokenizer()).chat(USER)[0] == byte_tokenizer().convert_tokens_to_ids("<|im_start|>")
    inner = byte_tokenizer()
    inner.add_special_tokens({"bos_token": "<|endoftext|>"})
    assert inner.bos_token_id not in HfTokenizer(inner).chat(USER)


def test_without_a_template_contents_are_joined():
    """One newline between messages, nothing added at the end, and a BOS if the model uses one."""
    inner = byte_tokenizer()
    inner.chat_template = None
    tokenizer = HfTokenizer(inner)
    assert tokenizer.decode(tokenizer.chat((Message(role="system", content="a"), *USER))) == "a\nhi"
    started = with_bos(byte_tokenizer())
    started.chat_template = None
    assert HfTokenizer(started).decode(HfTokenizer(started).chat(USER)) == "<s>hi"


def test_turns_end_with_what_the_template_says():
    """A base model's EOS ends documents; its chat template ends turns with another token."""
    inner = byte_tokenizer()
    inner.add_special_tokens({"eos_token": "<|endoftext|>"})
    assert HfTokenizer(inner).eos_id == inner.convert_tokens_to_ids("<|im_end|>") != inner.eos_token_id
    assert HfTokenizer(inner).eos_ids == {HfTokenizer(inner).eos_id, inner.eos_token_id}, "a sampled end of text ends the turn too"
    inner.chat_template = None
    assert HfTokenizer(inner).eos_id == inner.eos_token_id


def test_no_token_that_ends_a_turn_is_an_error():
    """Such a model could never stop."""
    inner = byte_tokenizer()
    inner.chat_template = None
    inner.eos_token = None
    with pytest.raises(RecipeError, match="ends a turn"):
        HfTokenizer(inner)


def test_what_stands_around_an_answer():
    """What the template writes before and after it in a finished conversation, with one BOS (T10); without a template, what the
    tokenizer puts around a text."""
    inner = with_bos(byte_tokenizer())
    inner.chat_template = "<s>" + inner.chat_template
    before, after = HfTokenizer(inner).around_answer(USER)
    assert inner.decode(before) == "<s><|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    assert inner.decode(after) == "<|im_end|>\n"
    inner.chat_template = None
    before, after = HfTokenizer(inner).around_answer(USER)
    assert inner.decode(before) == "<s>hi"
    assert after.tolist() == []
