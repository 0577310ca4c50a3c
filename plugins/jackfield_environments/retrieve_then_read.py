"""Retrieval-augmented generation in its plain form (Lewis et al. 2020): what is found for the question is read before answering."""

from __future__ import annotations

from attrs import frozen

from jackfield.component import at_least, option
from jackfield.errors import RolloutFailure
from jackfield.rollout import Episode
from jackfield.stages import Tokenizer
from jackfield.types import Rollout, Task
from jackfield_environments.information import information_block, readable
from jackfield_environments.prompt import holds_placeholder, prompt_messages
from jackfield_environments.single_turn import SingleTurn

TEMPLATE = """\
{information}

Answer the question with what is written above. {question}"""


def _holds_both(template: str) -> str | None:
    return holds_placeholder("question", "information")(template) or holds_placeholder("information", "question")(template)


@frozen(kw_only=True)
class RetrieveThenRead(SingleTurn):
    """The environment searches for the question, once, and the policy answers once, with what was found in its prompt.

    What a policy that may search is to be compared with: it chooses neither whether nor what to look up. What was found stands inside
    ``<information>…</information>``, cut so that the tags always close; like all of the prompt it is never trained on. Worked examples
    are searched for as well, so that they look as the question does. A rollout whose search fails has failed; other finishes are those
    of ``single_turn``.
    Counters: ``turns``, ``search_calls`` and ``search_failures`` (by tool, those of examples included), ``observations_cut``.
    """

    template: str = option(
        TEMPLATE,
        help="the user message; {question} is the row's question, {information} what was found for it",
        check=_holds_both,
    )
    tool: str = option("search", help="name of the tool that gets the question")
    max_observation_tokens: int = option(500, help="tokens of what was found for one question, tags included", check=at_least(1))

    @property
    def requires_tools(self) -> tuple[str, ...]:
        """Names of the tools a recipe must list."""
        return (self.tool,)

    def longest_prompt(self, task: Task, tokenizer: Tokenizer) -> int:
        """Where as much is found for every question as may be shown."""
        return super().longest_prompt(task, tokenizer) + (len(self.examples) + 1) * self.max_observation_tokens

    async def play(self, episode: Episode) -> Rollout:
        episode.count(f"{self.tool}_failures", 0)
        episode.count("observations_cut", 0)
        information = {question: await self.found(episode, question) for question in (*self.examples, episode.task.question)}
        episode.start(prompt_messages(episode.task, self.template, self.system, self.examples, information))
        return await self.answer(episode)

    async def found(self, episode: Episode, question: str) -> str:
        """The block that is shown of what the tool gives for a question; empty if not one character fits.

        Raises RolloutFailure if it fails: attempts at one question are compared, so they must have read the same.
        """
        observation = await episode.call(self.tool, question)
        if observation.failure is not None:
            raise RolloutFailure(f"{self.tool} failed: {observation.failure}")
        block = information_block(readable(observation), "information", self.max_observation_tokens, episode.tokenizer)
        episode.count("observations_cut", block is None or block.cut)
        return block.text.strip() if block else ""
