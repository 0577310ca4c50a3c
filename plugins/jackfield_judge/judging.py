"""What every judge has: its question, how its answer is read, and that one question is asked once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any

from attrs import define

from jackfield.component import option, positive
from jackfield.errors import UserError
from jackfield.stages import Tokenizer
from jackfield.types import Message, Rollout, Task, Verdict
from jackfield_judge.template import QUESTION, Template, wrong_template
from jackfield_judge.verdict import YES_OR_NO, read_verdict, wrong_pattern


class NoAnswer(Exception):
    """The judge could not be asked, or did not answer; the message says why."""


@define(kw_only=True, eq=False)
class Judge:
    """Asks a language model about each rollout's completion; subclasses say how it is asked."""

    template: str = option(
        QUESTION,
        help="what the judge is asked, with places {question}, {answers} and {completion}",
        check=wrong_template,
    )
    verdict: str = option(
        YES_OR_NO,
        help="regular expression whose last match in the judge's answer is its verdict: a group (?P<verdict>yes|no), or (?P<score>…) "
        "with a number",
        check=wrong_pattern,
    )
    best: float = option(10.0, help="the number a (?P<score>…) gives to the best answer, which earns 1", check=positive)

    async def answer(self, conversation: tuple[Message, ...]) -> str:
        """What the judge answers. Raises NoAnswer, or UserError for what the user must mend."""
        raise NotImplementedError

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:  # noqa: ARG002
        """Why the task cannot be judged: the template shows gold answers, and it has none."""
        if Template.parse(self.template).reads_answers and not _gold(task):
            return "has no answers, which the judge's template shows as {answers}"
        return None

    async def judge(self, rollout: Rollout) -> Verdict:
        """One rollout alone."""
        [found] = await self.judge_all([rollout])
        return found

    async def judge_all(self, rollouts: Sequence[Rollout]) -> list[Verdict]:
        """All at once; equal questions are asked once. A verdict that does not parse is an abstention, no answer is an error."""
        asked = [self._conversation(rollout) for rollout in rollouts]
        questions = list(dict.fromkeys(conversation for conversation in asked if conversation is not None))
        verdicts = dict(zip(questions, await _all(map(self._verdict, questions)), strict=True))
        without = Verdict.abstain("the task has no answers, which the judge's template shows")
        return [without if conversation is None else verdicts[conversation] for conversation in asked]

    def _conversation(self, rollout: Rollout) -> tuple[Message, ...] | None:
        shown = Template.parse(self.template)
        gold = _gold(rollout.task)
        if shown.reads_answers and not gold:
            return None
        text = shown.filled(question=rollout.task.question, answers="\n".join(gold), completion=rollout.completion)
        return (Message(role="user", content=text),)

    async def _verdict(self, conversation: tuple[Message, ...]) -> Verdict:
        try:
            said = await self.answer(conversation)
        except NoAnswer as error:
            return Verdict.error(str(error))
        return read_verdict(said, self.verdict, self.best)


def _gold(task: Task) -> list[str]:
    return [answer for answer in task.answers if answer.strip()]


async def _all(calls: Iterable[Coroutine[Any, Any, Verdict]]) -> list[Verdict]:
    """What all calls give, in order. The first error ends the others and is raised as itself, a user's before any other."""
    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(call) for call in calls]
    except ExceptionGroup as failures:
        to_be_mended = failures.subgroup(UserError)
        raise (to_be_mended or failures).exceptions[0] from None
    return [task.result() for task in running]
