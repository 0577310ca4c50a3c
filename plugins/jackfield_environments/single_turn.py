"""One prompt, one answer."""

from __future__ import annotations

from attrs import frozen

from jackfield.component import at_least, option
from jackfield.rollout import Episode
from jackfield.stages import Tokenizer
from jackfield.types import Rollout, Task
from jackfield_environments.prompt import holds_placeholder, prompt_messages, prompt_problem


@frozen(kw_only=True)
class SingleTurn:
    """The policy answers once.

    It finishes with ``answer`` (a stop string), ``eos`` or ``length`` (``max_new_tokens`` written without either).
    Recorded answers are played by the engine ``recorded`` and then end as they would when sampled.
    """

    template: str = option(
        "{question}", help="the user message; {question} is the row's question", check=holds_placeholder("question")
    )
    system: str = option("", help="a system message before the row's messages; a row that has its own is refused")
    max_new_tokens: int = option(help="tokens of the answer", check=at_least(1))
    stop: tuple[str, ...] = option((), help="the answer ends where one of these texts appears, which stays part of it")

    @property
    def turn_budget(self) -> int:
        """Tokens of the one turn."""
        return self.max_new_tokens

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:  # noqa: ARG002
        """Why no prompt can be made of a task."""
        return prompt_problem(task, self.system)

    async def play(self, episode: Episode) -> Rollout:
        episode.start(prompt_messages(episode.task, self.template, self.system))
        turn = await episode.generate(self.max_new_tokens, self.stop)
        if turn.ended_by == "length":
            return episode.finish("length", f"cut off after max_new_tokens = {self.max_new_tokens} tokens")
        return episode.finish("answer" if turn.ended_by == "stop" else "eos")
