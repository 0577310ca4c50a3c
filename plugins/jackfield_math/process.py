"""A worker process from outside: started when first asked, replaced when it had to be killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import weakref
from typing import Any

from attrs import define, field


class TimeLimit(Exception):
    """A question took longer than it may; the process that worked on it is dead."""


@define(eq=False)
class Worker:
    """One process of ``jackfield_math.worker``; one question at a time. It ends with this object, at the latest."""

    _process: subprocess.Popen[str] | None = field(default=None, init=False)
    _end: weakref.finalize[..., Any] | None = field(default=None, init=False)

    def ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The reply. Raises TimeLimit, or RuntimeError if the process cannot work. Importing sympy does not count as time."""
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"seconds": seconds} | question) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            reply: dict[str, Any] = json.loads(line)
            return reply
        code = process.wait()
        self.close()
        if code == -signal.SIGALRM:
            raise TimeLimit
        raise RuntimeError(f"the process that compares answers ended with {code}")

    def close(self) -> None:
        """End the process; the next question starts another."""
        if self._end is not None:
            self._end()
        self._process = self._end = None

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "jackfield_math.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="backslashreplace",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        self._process, self._end = process, weakref.finalize(self, _kill, process)
        assert process.stdout is not None
        if not process.stdout.readline():
            code = process.wait()
            self.close()
            raise RuntimeError(f"the process that compares answers could not start (exit code {code}); is math-verify installed?")
        return process


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with contextlib.suppress(BrokenPipeError):  # a question that was never read
            pipe.close()
