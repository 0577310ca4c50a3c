from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from jackfield.errors import UserError
from jackfield_search.transformer import MiniLm, TransformerEmbedder

TEXTS = ["a", "a b c d e a b c", "", "c b a", "d " * 40]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random encoder of two layers with five words."""
    from tokenizers import Tokenizer, processors
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d", "e", "query", "passage", ":"]
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    place = tmp_path_factory.mktemp("encoder")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(place)
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
    BertModel(config).save_pretrained(place)
    return place


def alone(folder: Path, text: str, pooling: str, max_tokens: int) -> Any:
    """One text without padding, in float64."""
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder).double().eval()
    inputs = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt", truncation=True, max_length=max_tokens)
    hidden = model(**inputs).last_hidden_state[0].detach().numpy()
    return hidden[0] if pooling == "cls" else hidden.mean(0)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("kind", ["query", "passage"])
def test_pooled_hidden_states(folder: Path, pooling: Any, kind: Any) -> None:
    """Prefix, pooling over real tokens only, in the order given, cut at max_tokens: against each text alone in float64."""
    found = TransformerEmbedder(path=folder, pooling=pooling, max_tokens=12).embed(TEXTS, kind)
    expected = [alone(folder, f"{kind}: {text}", pooling, 12) for text in TEXTS]
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_fingerprint_follows_keys_and_files(folder: Path) -> None:
    """Other prefixes or weights give other vectors, so they name another index."""
    prints = {
        TransformerEmbedder(path=folder).fingerprint,
        TransformerEmbedder(path=folder, query_prefix="").fingerprint,
        TransformerEmbedder(path=folder, pooling="cls").fingerprint,
        TransformerEmbedder(path=folder, max_tokens=8).fingerprint,
    }
    assert len(prints) == 4
    assert TransformerEmbedder(path=folder).fingerprint in prints


def test_no_encoder_there(tmp_path: Path) -> None:
    """The folder is named."""
    with pytest.raises(UserError, match="is not the folder of an encoder"):
        TransformerEmbedder(path=tmp_path).embed(["a"], "query")


@pytest.mark.real
def test_the_real_minilm() -> None:
    """Close texts are closer than others, and the vectors have 384 numbers."""
    vectors = MiniLm().embed(["What is the capital of France?", "Paris is the capital of France.", "Oxygen is a gas."], "query")
    assert vectors.shape == (3, 384)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2] + 0.3
