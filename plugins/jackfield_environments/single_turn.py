"""One prompt, one answer."""

from __future__ import annotations

from typing import ClassVar

from attrs import Factory, frozen

from jackfield.component import at_least, option
from jackfield.rollout import Episode
from jackfield.stages import Tokenizer
from jackfield.types import Rollout, Task
from jackfield_environments.prompt import holds_placeholder, prompt_messages, prompt_problem


@frozen(kw_only=True)
class SingleTurn:
    """The policy answers once.

    It finishes with ``answer`` (a stop string), ``eos`` or ``length`` (``max_new_tokens`` written without either). Prompts are never cut.
    Recorded answers are played by the engine ``recorded`` and then end as they would when sampled.
    """

    template: str = option(
        "{question}", help="the user message; {question} is the row's question", check=holds_placeholder("question")
    )
    system: str = option("", help="a system message before the row's messages; a row that has its own is refused")
    examples: dict[str, str] = option(
        Factory(dict),
        help="worked examples, question → answer: earlier turns of the conversation, the template around their questions",
    )
    max_new_tokens: int = option(help="tokens of the answer", check=at_least(1))
    max_tokens: int | None = option(
        None,
        help="tokens of prompt and answer; a row whose prompt leaves less than max_new_tokens is refused before the run; unset: no limit",
        check=lambda value: None if value is None else at_least(1)(value),
    )
    stop: tuple[str, ...] = option((), help="the answer ends where one of these texts appears, which stays part of it")

    turn_limit: ClassVar[int] = 1

    @property
    def turn_budget(self) -> int:
        """Tokens of the one turn."""
        return self.max_new_tokens

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:
        """Why no prompt can be made of a task, or that it leaves too little room."""
        problem = prompt_problem(task, self.system)
        if problem is not None or self.max_tokens is None:
            return problem
        length = self.longest_prompt(task, tokenizer)
        if length + self.max_new_tokens <= self.max_tokens:
            return None
        return f"the prompt has {length} tokens, which leaves no room in max_tokens = {self.max_tokens} for max_new_tokens = {self.max_new_tokens}"

    def longest_prompt(self, task: Task, tokenizer: Tokenizer) -> int:
        """Tokens that the prompt may have."""
        return len(tokenizer.chat(prompt_messages(task, self.template, self.system, self.examples)))

    async def play(self, episode: Episode) -> Rollout:
        episode.start(prompt_messages(episode.task, self.template, self.system, self.examples))
        return await self.answer(episode)

    async def answer(self, episode: Episode) -> Rollout:
        """The policy's turn, after which the rollout ends."""
        turn = await episode.generate(self.max_new_tokens, self.stop)
        if turn.ended_by == "length":
            return episode.finish("length", f"cut off after max_new_tokens = {self.max_new_tokens} tokens")
        return episode.finish("answer" if turn.ended_by == "stop" else "eos")
