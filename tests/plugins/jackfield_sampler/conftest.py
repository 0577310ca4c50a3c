"""Tiny random models, a small byte-level tokenizer and a way to play scripted sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from attrs import define, field

from jackfield.types import Task

MERGES = [("<", "/"), ("</", "s"), ("s", ">"), (">", "x"), ("t", "o"), ("to", "p"), ("Ġ", "t"), ("Ã", "©")]
END = "<|end|>"


class ByteTokenizer:
    """Byte-level BPE with a handful of merges, so that stop strings may sit anywhere in tokens and characters may be split."""

    def __init__(self) -> None:
        from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

        vocabulary = {letter: index for index, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
        for left, right in MERGES:
            vocabulary[left + right] = len(vocabulary)
        self.inner = Tokenizer(models.BPE(vocab=vocabulary, merges=MERGES))
        self.inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        self.inner.decoder = decoders.ByteLevel()
        self.inner.add_special_tokens([AddedToken(END, special=True)])
        self.eos_id = self.inner.token_to_id(END)
        self.eos_ids = frozenset({self.eos_id})
        self.size = self.inner.get_vocab_size()

    def encode(self, text: str) -> Any:
        return np.array(self.inner.encode(text, add_special_tokens=False).ids, np.int64)

    def decode(self, ids: Any) -> str:
        return str(self.inner.decode(np.asarray(ids).tolist(), skip_special_tokens=False))

    def chat(self, messages: Any) -> Any:
        return self.encode("".join(m.content for m in messages))


@define(eq=False)
class Policy:
    """What the sampler sees of a ``LanguageModel``; computes in its weights' own dtype."""

    module: Any
    tokenizer: Any
    policy_version: int = 0
    compute: str = "float32"


@define(eq=False)
class Script:
    """A scripted rollout: turns of at most ``budget`` tokens with an observation after each but the last."""

    prompt: Any
    budgets: Sequence[int] = (6,)
    observations: Sequence[Any] = ()
    stop: Sequence[str] = ()
    prefix: str = ""
    seed: int = 0
    temperature: float = 1.0
    turns: list[Any] = field(factory=list)

    @property
    def ids(self) -> list[int]:
        """Everything that was written, in order."""
        return [token for part, _ in self.parts() for token in part]

    def parts(self) -> list[tuple[list[int], bool]]:
        """(ids, written by the policy) in order."""
        found = [(list(self.prompt), False)]
        for index, turn in enumerate(self.turns):
            found.append((turn.tokens.tolist(), True))
            if index < len(self.observations):
                found.append((list(self.observations[index]), False))
        return found


TASK = Task(id="task", prompt=())


async def _perform(engine: Any, script: Script) -> None:
    session = engine.open(
        script.prompt, task=TASK, member=0, prefix=script.prefix, seed=script.seed, temperature=script.temperature
    )
    for index, budget in enumerate(script.budgets):
        script.turns.append(await session.generate(budget, script.stop))
        if index < len(script.observations):
            await asyncio.sleep(0)
            session.extend(np.asarray(script.observations[index], np.int64))
    session.close()


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tokenizer() -> ByteTokenizer:
    return ByteTokenizer()


@pytest.fixture(scope="session")
def script() -> type[Script]:
    return Script


@pytest.fixture(scope="session")
def policy() -> type[Policy]:
    return Policy


@pytest.fixture(scope="session")
def play() -> Callable[..., None]:
    """Play scripts, all at once, in one event loop."""

    def play(engine: Any, *scripts: Script) -> None:
        async def everybody() -> None:
            await asyncio.gather(*(_perform(engine, script) for script in scripts))

        asyncio.run(everybody())

    return play


@pytest.fixture(scope="session")
def tiny(tokenizer: ByteTokenizer) -> Callable[..., Any]:
    """A random causal LM of an architecture, large enough in its weights that tokens differ in probability."""
    from transformers import AutoConfig, AutoModelForCausalLM

    def tiny(architecture: str, dtype: torch.dtype = torch.float32, seed: int = 0, **config: Any) -> Any:
        options: dict[str, Any] = {
            "vocab_size": tokenizer.size, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 512,
            "pad_token_id": None, "bos_token_id": None, "eos_token_id": None, "initializer_range": 0.2,
        }  # fmt: skip
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = AutoModelForCausalLM.from_config(AutoConfig.for_model(architecture, **options | config), dtype=dtype)
        return model.eval()

    return tiny


@pytest.fixture(scope="session")
def start(tokenizer: ByteTokenizer) -> Callable[..., Any]:
    """An engine over a module."""
    from jackfield_sampler.engine import TorchEngine

    def start(module: Any, **options: Any) -> Any:
        engine = TorchEngine(**options)
        engine.start(Policy(module, tokenizer), tokenizer)
        return engine

    return start


@pytest.fixture(scope="session")
def full_logp() -> Callable[..., Any]:
    """Log-probs of everything the policy wrote in a script, by one plain forward pass of transformers over the whole of it."""

    def full_logp(module: Any, script: Script) -> Any:
        ids = torch.tensor(script.ids)
        with torch.no_grad():
            logits = module(input_ids=ids[None], use_cache=False).logits[0].double() / (script.temperature or 1.0)
        logp = logits.log_softmax(-1)[:-1].gather(1, ids[1:, None])[:, 0].numpy()
        written = np.array([by_policy for part, by_policy in script.parts() for _ in part])
        return logp[written[1:]]

    return full_logp
