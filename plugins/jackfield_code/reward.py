"""Judge of programs."""

from __future__ import annotations

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal

from attrs import Factory, field, frozen

from jackfield.component import at_least, option, positive
from jackfield.types import Rollout, Task, Verdict
from jackfield_code.checks import BadChecks, Checks, checks_of
from jackfield_code.program import written_program
from jackfield_code.sandbox import Limits, SandboxFailure, run_script, run_tests

if TYPE_CHECKING:
    from jackfield.stages import Tokenizer


@frozen(kw_only=True)
class CodeTests:
    """How many of the task's tests the written program passes, run in a process of its own.

    The program is the last closed fenced block marked ``python`` (or not marked) of what the policy wrote; if a turn holds an
    ``<answer>``, the block in it, or the whole answer. The row has one of

    - ``cases``, a list of ``{"stdin": …, "stdout": …}`` (or ``input``, ``output``): the program runs as a script once a case; what it
      prints is compared here, white space at line ends aside. The expected outputs never enter its process, so they cannot be forged;
    - ``tests``, Python source (text or a list of texts): every ``assert``, call or block with one at its top level is one test, and so
      is every function ``test…`` without arguments that holds one, which is called. They run in the program's process after it, as one
      module. What stands under ``if __name__ == "__main__"``, in classes or in functions that nothing calls does not run; a row
      without a test is refused.

    The process has an empty environment, a temporary folder, limits of time, processor, memory and output, and is killed with its
    whole group. A program that runs out of time or memory, leaves early or breaks off scores 0 and says so; a process that cannot be
    started is an error. This keeps accidents apart, not attackers: the program may read the disk and use the network like any
    process of this user, and one that searches the interpreter for its tests can cheat ``tests`` (not ``cases``).
    """

    score: Literal["fraction", "all"] = option(
        "fraction", help="fraction: the part of the tests that pass; all: 1 if all do, else 0"
    )
    seconds: float = option(5.0, help="for one process: all tests of a row, or one case", check=positive)
    memory_mb: int = option(1024, help="address space of the process, in MiB", check=at_least(64))
    output_kb: int = option(256, help="what it may print, and the size of any file it writes, in KiB", check=at_least(1))
    concurrency: int = option(2, help="programs that run at once", check=at_least(1))
    _threads: ThreadPoolExecutor = field(
        default=Factory(lambda self: ThreadPoolExecutor(self.concurrency), takes_self=True), init=False, eq=False, repr=False
    )

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:  # noqa: ARG002
        """Why no program for ``task`` could be judged: it has no tests, or they cannot be used."""
        try:
            return None if checks_of(task) is not None else "has neither 'tests' nor 'cases' to run a program against"
        except BadChecks as error:
            return str(error)

    async def judge(self, rollout: Rollout) -> Verdict:
        """The verdict of ``code_tests``; the event loop is free while the program runs."""
        row = rollout.task.origin or rollout.task.id
        try:
            checks = checks_of(rollout.task)
        except BadChecks as error:
            return Verdict.abstain(f"{row}: {error}")
        if checks is None:
            return Verdict.abstain(f"{row} has neither 'tests' nor 'cases'")
        program = written_program(rollout)
        if program is None or not program.strip():
            return Verdict.score(0.0, reason="no program in the completion")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._verdict, program, checks)
        except (SandboxFailure, OSError) as error:
            return Verdict.error(f"{row}: {error}")

    def _verdict(self, program: str, checks: Checks) -> Verdict:
        passed, failure = self._by_cases(program, checks) if checks.cases else self._by_source(program, checks.source)
        share = sum(passed) / len(passed) if passed else 0.0
        value = share if self.score == "fraction" else math.floor(share)
        told = f"{sum(passed)} of {len(passed)} tests passed" if passed else ""
        reason = "; ".join(filter(None, (told, failure)))
        return Verdict.score(value, reason=reason, parsed=program, passed=share)

    def _by_source(self, program: str, source: str) -> tuple[list[bool], str]:
        ran = run_tests(program, source, self._limits)
        if ran.passed is not None:
            return list(ran.passed), ran.failure
        early = ran.exit_code == 0
        return [], "the program ended before its tests did" if early else f"the program {ran.fault}"

    def _by_cases(self, program: str, checks: Checks) -> tuple[list[bool], str]:
        """All cases; after one that ran out of time, the rest count as failed without being run."""
        passed, first = [], ""
        for number, case in enumerate(checks.cases, 1):
            ran = run_script(program, case.stdin, self._limits)
            right = ran.exit_code == 0 and case.is_met_by(ran.stdout)
            passed.append(right)
            if not right:
                wrong = f"printed {ran.stdout[:60]!r}, expected {case.stdout[:60]!r}" if ran.exit_code == 0 else ran.fault
                first = first or f"case {number}: {wrong}"
            if ran.exit_code is None:
                break
        return passed + [False] * (len(checks.cases) - len(passed)), first

    @property
    def _limits(self) -> Limits:
        return Limits(seconds=self.seconds, memory=self.memory_mb << 20, output=self.output_kb << 10)
