"""The reward ``judge``."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, ClassVar

from attrs import define, field

from jackfield import seeds
from jackfield.component import at_least, option, part
from jackfield.stages import Engine, ModelSource, Tokenizer
from jackfield.types import Message, Task
from jackfield_judge.judging import Judge, NoAnswer

if TYPE_CHECKING:
    from jackfield.corridor import Corridor


@define(kw_only=True, eq=False)
class LocalJudge(Judge):
    """A generative verifier: a language model held here beside the policy is shown question, reference and completion, and writes
    why and a verdict, which is read by a regular expression. Its words are kept as the verdict's reason.

    The completion is shown as data: nothing in it is read as the judge's verdict. A judgement depends on its question alone,
    so that the same completion is always judged alike.
    """

    holds: ClassVar[str] = "a language model of its own, frozen, and the KV cache of what it is writing"

    model: ModelSource = part("models", help="the judge, a model of its own")
    engine: Engine = part("engines", help="what it writes with, e.g. torch")
    max_new_tokens: int = option(256, help="tokens a judgement may take", check=at_least(1))
    max_prompt_tokens: int = option(
        4096, help="a longer question to the judge is an error, never cut; bounds memory", check=at_least(1)
    )
    temperature: float = option(0.0, help="of sampling; 0: greedy", check=at_least(0))
    seed: int = option(0, help="of sampling: a question and this seed decide what the judge writes")

    _tokenizer: Tokenizer | None = field(init=False, default=None, repr=False)

    def check_recipe(self, corridor: Corridor) -> list[str]:  # noqa: ARG002
        """An engine that plays recordings cannot judge."""
        return [] if self.engine.samples else ["the judge's engine plays recordings; use one that samples, such as torch"]

    def prepare(self, tokenizer: Tokenizer) -> None:  # noqa: ARG002
        """Load the judge. It has a tokenizer of its own, whatever the policy's is."""
        model = self.model.load()
        self.engine.start(model, model.tokenizer)
        self._tokenizer = model.tokenizer

    async def answer(self, conversation: tuple[Message, ...]) -> str:
        """What the judge writes."""
        if self._tokenizer is None:
            raise RuntimeError("the judge has not been prepared")
        prompt = self._tokenizer.chat(conversation)
        if len(prompt) > self.max_prompt_tokens:
            raise NoAnswer(f"the question to the judge has {len(prompt)} tokens; max_prompt_tokens is {self.max_prompt_tokens}")
        digest = hashlib.sha256(prompt.tobytes()).hexdigest()
        session = self.engine.open(
            prompt,
            task=Task(id=f"judge/{digest}", prompt=conversation),
            member=0,
            prefix=f"judge/{digest}",
            seed=seeds.derive(self.seed, digest),
            temperature=self.temperature,
        )
        try:
            return (await session.generate(self.max_new_tokens, ())).text
        finally:
            session.close()
