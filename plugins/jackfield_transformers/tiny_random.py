"""A causal LM small enough for tests: any transformers architecture, random weights, a tokenizer made on the spot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import fields, frozen

from jackfield.component import at_least, option
from jackfield.errors import Problem, RecipeError, nearest
from jackfield_transformers.preparation import Preparation

if TYPE_CHECKING:
    from jackfield_transformers.hf_causal import HfCausal
    from jackfield_transformers.model import HfModel
    from jackfield_transformers.tokenizer import HfTokenizer

_END, _START, _PAD = "<|im_end|>", "<|im_start|>", "<|endoftext|>"
_CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_HEAD_SIZE = 16


@frozen(kw_only=True)
class TinyRandom(Preparation):
    """A small random model of a given architecture, with a byte-level ChatML tokenizer. It can learn, and knows nothing."""

    architecture: str = option("llama", help="transformers' model_type: llama, qwen2, mistral, gemma2 …")
    layers: int = option(2, help="transformer layers", check=at_least(1))
    heads: int = option(4, help="attention heads of 16 dimensions each; the hidden size is their product", check=at_least(1))
    seed: int = option(0, help="seed of the random weights")

    def tokenizer(self) -> HfTokenizer:
        """One token a UTF-8 byte, and ChatML's special tokens."""
        from jackfield_transformers.tokenizer import HfTokenizer

        return HfTokenizer(byte_tokenizer())

    def load(self) -> HfModel:
        """The model with float32 weights, on its device. Raises RecipeError if transformers knows no such architecture."""
        import torch
        from transformers import AutoModelForCausalLM

        tokenizer = self.tokenizer()
        config = self._config(tokenizer)
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            module = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        return self.prepare(module, tokenizer)

    def from_folder(self, folder: Path) -> HfCausal:
        """The weights in ``folder``, prepared as these would be."""
        from jackfield_transformers.hf_causal import HfCausal

        shared = {field.name: getattr(self, field.name) for field in fields(Preparation)}
        return HfCausal(path=str(folder), **shared)

    def tiny(self) -> TinyRandom:
        """Itself."""
        return self

    def _config(self, tokenizer: HfTokenizer) -> Any:
        from transformers import AutoConfig
        from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

        if self.architecture not in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
            close = nearest(self.architecture, MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
            raise RecipeError(Problem("", "model.architecture", f"transformers has no causal LM {self.architecture!r}{close}"))
        hidden_size = self.heads * _HEAD_SIZE
        return AutoConfig.for_model(
            self.architecture,
            vocab_size=len(tokenizer.inner),
            hidden_size=hidden_size,
            intermediate_size=2 * hidden_size,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            num_key_value_heads=self.heads // 2 if self.heads % 2 == 0 else self.heads,
            head_dim=_HEAD_SIZE,
            max_position_embeddings=8192,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_id,
            pad_token_id=tokenizer.inner.pad_token_id,
        )


def byte_tokenizer() -> Any:
    """A transformers tokenizer with one token a byte (byte-level BPE without merges) and a ChatML template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytewise = Tokenizer(models.BPE(vocab={letter: id for id, letter in enumerate(alphabet)}, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bytewise.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=bytewise,
        eos_token=_END,
        pad_token=_PAD,
        additional_special_tokens=[_START],
        chat_template=_CHATML,
    )
