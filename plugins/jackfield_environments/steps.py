"""An answer in steps, each a turn of its own."""

from __future__ import annotations

from attrs import frozen

from jackfield.component import at_least, option
from jackfield.rollout import Episode
from jackfield.stages import Tokenizer
from jackfield.types import Rollout, Task
from jackfield_environments.prompt import holds_placeholder, prompt_messages, prompt_problem


@frozen(kw_only=True)
class Steps:
    """The policy answers step by step, a line a step: every step is a turn, and nothing is said between them.

    So steps can be judged, labelled and credited one by one (``step_labels``, ``process_reward_model``). A step ends with ``step_end``,
    which stays part of it. The rollout finishes with ``eos``; with ``length`` where a step is cut off by ``max_new_tokens_per_step``; with
    ``turns`` after ``max_steps`` steps. Of a recorded attempt every turn is a step, whether it ends so or not.
    """

    template: str = option(
        "{question}", help="the user message; {question} is the row's question", check=holds_placeholder("question")
    )
    system: str = option("", help="a system message before the row's messages; a row that has its own is refused")
    step_end: str = option("\n", help="a step ends where this appears", check=lambda end: None if end else "must not be empty")
    max_steps: int = option(16, help="steps of an answer", check=at_least(1))
    max_new_tokens_per_step: int = option(help="tokens of a step", check=at_least(1))

    @property
    def turn_limit(self) -> int:
        """Steps of an answer."""
        return self.max_steps

    @property
    def turn_budget(self) -> int:
        """Tokens of a step."""
        return self.max_new_tokens_per_step

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:  # noqa: ARG002
        """Why no prompt can be made of a task."""
        return prompt_problem(task, self.system)

    async def play(self, episode: Episode) -> Rollout:
        episode.start(prompt_messages(episode.task, self.template, self.system))
        for number in range(1, self.max_steps + 1):
            turn = await episode.generate(self.max_new_tokens_per_step, [self.step_end])
            if turn.ended_by == "eos":
                return episode.finish("eos")
            if turn.ended_by == "length" and turn.logp is not None:  # what was recorded is whole
                return episode.finish("length", f"step {number} was cut off after {self.max_new_tokens_per_step} tokens")
        return episode.finish("turns", f"no end within {self.max_steps} steps")
