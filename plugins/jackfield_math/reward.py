"""Judge of mathematical answers."""

from __future__ import annotations

import asyncio
import importlib.util
import queue
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from attrs import Factory, field, frozen

from jackfield.answers import last_boxed, last_tagged, tag_name, unboxed
from jackfield.component import at_least, option, positive
from jackfield.types import Rollout, Task, Verdict
from jackfield_math.process import TimeLimit, Worker

if TYPE_CHECKING:
    from jackfield.corridor import Corridor
    from jackfield.stages import Tokenizer

LONGEST = 500
"""Characters of an answer; a longer one is none, and is not parsed."""
SHOWN = 60
SURELY_READABLE = re.compile(r"-?\d{1,300}(\.\d{1,300})?")


@frozen(kw_only=True)
class Math:
    r"""1 if the final answer equals a gold answer as mathematics, else 0.

    The final answer is the last complete ``<answer>`` of what the policy wrote, or without one the last ``\boxed{…}``; a number that
    merely stands somewhere is no answer. It is parsed as a whole: text around a value, or a list that goes on (``1, 2, …, n``), does
    not parse and scores 0. A gold answer that does not parse is reported at check time with its row, and abstained from.

    - Numbers are compared exactly: ``1/2`` is ``0.5`` and ``0.50``, but ``0.333`` is not ``1/3``, ``1.41421356`` not ``√2`` and
      ``1/2004!`` not ``1/2006!``. ``tolerance`` allows for rounding where one side is a decimal fraction.
    - ``28%``, ``28 percent`` and ``0.28`` are one value; ``28`` is another.
    - ``115,000`` and ``115 000`` are numbers, ``12,34`` are two.
    - A unit after a value counts only if both have one: ``5 cm`` equals ``5`` and ``5 cm``, not ``5 m``.
    - ``x = 5`` answers ``5``; ``2x + 3 = 5`` does not. Equations are equal up to a factor: ``2x + 4y = 3`` is ``y = -x/2 + 3/4``.
    - Sets, tuples, intervals and inequalities are compared as math-verify does: for the gold answer ``0 < x < 12.5`` the interval
      ``(0, 12.5)`` is right, for the gold answer ``(0, 12.5)`` the inequality is not. No symbol is renamed: ``A + x`` is not ``C + x``.

    Every comparison runs in a process of its own that is killed after ``seconds``; that, or a crash of it, is an error, never a 0.
    """

    answer_tag: str = option("answer", help='the tag that holds the final answer; "": only the last box', check=tag_name)
    tolerance: float = option(
        0.0, help="relative difference allowed where one side is a decimal fraction; 0: exact", check=at_least(0)
    )
    seconds: float = option(5.0, help="time for one comparison; then its process is killed", check=positive)
    workers: int = option(2, help="processes that compare at once", check=at_least(1))
    _threads: ThreadPoolExecutor = field(
        default=Factory(lambda self: ThreadPoolExecutor(self.workers), takes_self=True), init=False, eq=False, repr=False
    )
    _idle: queue.SimpleQueue[Worker] = field(
        default=Factory(lambda self: _workers(self.workers), takes_self=True), init=False, eq=False, repr=False
    )

    def check_recipe(self, corridor: Corridor) -> list[str]:  # noqa: ARG002
        """Whether math-verify is there."""
        missing = importlib.util.find_spec("math_verify") is None
        return ["needs the module 'math_verify', which is not installed; pip install 'jackfield[math]'"] if missing else []

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:  # noqa: ARG002
        """Why no answer to ``task`` could be judged: no gold answer parses."""
        for gold in _golds(task):
            if SURELY_READABLE.fullmatch(gold):
                return None
            try:
                reply = self._ask({"read": gold})
            except TimeLimit:
                continue
            if reply.get("readable"):
                return None
        return f"no gold answer can be read as mathematics: {_listed(task)}"

    async def judge(self, rollout: Rollout) -> Verdict:
        """The verdict of ``math``; the event loop is free while a process compares."""
        golds = _golds(rollout.task)
        row = rollout.task.origin or rollout.task.id
        if not golds:
            return Verdict.abstain(f"the gold answer is missing or empty in {row}")
        answer = _final_answer(rollout, self.answer_tag)
        if answer is None:
            tag = f"<{self.answer_tag}>…</{self.answer_tag}> and no " if self.answer_tag else ""
            return Verdict.score(0.0, reason=f"no {tag}\\boxed{{…}} in the completion")
        if len(answer) > LONGEST:
            return Verdict.score(0.0, reason=f"{len(answer)} characters are no final answer", parsed=answer)
        if not answer:
            return Verdict.score(0.0, reason="the answer is empty", parsed="")
        question = {"golds": golds, "answer": answer, "tolerance": self.tolerance}
        try:
            reply = await asyncio.get_running_loop().run_in_executor(self._threads, self._ask, question)
        except TimeLimit:
            return Verdict.error(f"comparing {_shown(answer)} with {_listed(rollout.task)} took more than {self.seconds:g} s")
        return _verdict(reply, answer, rollout.task)

    def close(self) -> None:
        """End the processes. A later judgement starts them again."""
        for _ in range(self.workers):
            worker = self._idle.get()
            worker.close()
            self._idle.put(worker)

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        worker = self._idle.get()
        try:
            return worker.ask(question, self.seconds)
        finally:
            self._idle.put(worker)


def _verdict(reply: dict[str, Any], answer: str, task: Task) -> Verdict:
    if "failure" in reply:
        return Verdict.error(f"comparing {_shown(answer)} with {_listed(task)} failed: {reply['failure']}")
    if not reply["golds"]:
        return Verdict.abstain(f"no gold answer of {task.origin or task.id} can be read as mathematics: {_listed(task)}")
    if not reply["readable"]:
        return Verdict.score(0.0, reason=f"{_shown(answer)} cannot be read as mathematics", parsed=answer)
    if reply["matched"] is None:
        return Verdict.score(0.0, reason=f"{_shown(answer)} is not {_listed(task)}", parsed=answer)
    return Verdict.score(1.0, reason=f"{_shown(answer)} equals {_shown(reply['matched'])}", parsed=answer)


def _workers(count: int) -> queue.SimpleQueue[Worker]:
    idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    for _ in range(count):
        idle.put(Worker())
    return idle


def _final_answer(rollout: Rollout, tag: str) -> str | None:
    """What is between the last tags, a box in it unwrapped; without tags, in the last box."""
    tagged = last_tagged(rollout, tag) if tag else None
    return last_boxed(rollout) if tagged is None else unboxed(tagged)


def _golds(task: Task) -> list[str]:
    return [unboxed(gold) for gold in task.answers if gold.strip()]


def _listed(task: Task) -> str:
    return " or ".join(_shown(gold) for gold in _golds(task)[:3]) or "nothing"


def _shown(text: str) -> str:
    return f"'{text}'" if len(text) <= SHOWN else f"'{text[:SHOWN]}'…"
