"""One run of a program in a process of its own: bare environment, temporary folder, limits, and nothing left running afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Literal

from attrs import frozen

HARNESS = Path(__file__).with_name("harness.py")
ISOLATED = ("-P", "-s", "-B")
"""What -I does except for ignoring PYTHONHASHSEED, which makes two runs of a program alike: the environment holds nothing else."""


class SandboxFailure(Exception):
    """The process did not even get to the program."""


@frozen(kw_only=True)
class Limits:
    """What a run may take; ``seconds`` on the clock and, rounded up, of the processor, ``memory`` and ``output`` in bytes."""

    seconds: float
    memory: int
    output: int


@frozen(kw_only=True)
class Ran:
    """How a run ended. ``passed`` is None if the tests never came to their end."""

    exit_code: int | None
    """None: it was killed for its time."""
    stdout: str
    stderr: str
    passed: tuple[bool, ...] | None = None
    failure: str = ""

    @property
    def fault(self) -> str:
        """The end of a run that failed, in one line."""
        if self.exit_code is None or self.exit_code == -signal.SIGXCPU:
            return "ran out of time"
        last = self.stderr.strip().splitlines()[-1:] or [""]
        if last[0]:
            return last[0][:200]
        if self.exit_code < 0:
            return f"was killed by {_signal_name(-self.exit_code)}"
        return f"exit code {self.exit_code}"


def run_script(program: str, stdin: str, limits: Limits) -> Ran:
    """The program as a script, with ``stdin`` to read."""
    return _run(program, "script", stdin, limits)


def run_tests(program: str, source: str, limits: Limits) -> Ran:
    """The program as a module, with the tests in ``source`` run in it."""
    return _run(program, "tests", source, limits)


def _run(program: str, mode: Literal["script", "tests"], given: str, limits: Limits) -> Ran:
    """Raises SandboxFailure, or OSError, if the process does not start."""
    nonce = secrets.token_hex(16)
    told = json.dumps({"nonce": nonce, "source": given}) if mode == "tests" else given
    with tempfile.TemporaryDirectory(prefix="jackfield_", ignore_cleanup_errors=True) as folder, _file() as out, _file() as err:
        (Path(folder) / "program.py").write_text(program, encoding="utf-8", errors="backslashreplace")
        reader, writer = os.pipe()
        try:
            exit_code = _wait(_start(folder, mode, writer, limits, out, err), told, limits.seconds)
            report = _drained(reader)
        finally:
            os.close(reader)
            os.close(writer)
        if not report.startswith("ready\n"):
            raise SandboxFailure(f"the process for the program did not start: {_head(err, 500).strip()[-200:] or exit_code}")
        passed, failure = _signed(report, nonce)
        return Ran(
            exit_code=exit_code,
            stdout=_head(out, limits.output),
            stderr=_head(err, limits.output),
            passed=passed,
            failure=failure,
        )


def _start(folder: str, mode: str, report: int, limits: Limits, out: IO[bytes], err: IO[bytes]) -> subprocess.Popen[bytes]:
    numbers = (report, limits.memory, int(limits.seconds) + 1, limits.output)
    return subprocess.Popen(
        [sys.executable, *ISOLATED, str(HARNESS), *map(str, numbers), mode],
        cwd=folder,
        env={"PYTHONHASHSEED": "0"},
        stdin=subprocess.PIPE,
        stdout=out,
        stderr=err,
        pass_fds=(report,),
        start_new_session=True,
    )


def _wait(process: subprocess.Popen[bytes], told: str, seconds: float) -> int | None:
    """The exit code, None after a time-out; everything in the process's group is killed in the end."""
    with process:
        try:
            process.communicate(told.encode("utf-8", "backslashreplace"), timeout=seconds)
            return process.returncode
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill_group(process.pid)


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _signed(report: str, nonce: str) -> tuple[tuple[bool, ...] | None, str]:
    """The result in the line that bears the nonce: ``NONCE 1101 FAILURE``."""
    for line in report.splitlines():
        if line.startswith(f"{nonce} "):
            _, passed, failure = line.split(" ", 2)
            return tuple(one == "1" for one in passed), failure
    return None, ""


def _drained(reader: int) -> str:
    """What the pipe holds now. A process that got away may keep it open for ever, so its end is not waited for."""
    os.set_blocking(reader, False)
    held = b""
    try:
        while part := os.read(reader, 1 << 16):
            held += part
    except BlockingIOError:
        pass
    return held.decode("utf-8", "replace")


def _signal_name(number: int) -> str:
    """Real-time signals between the first and the last have no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _file() -> IO[bytes]:
    return tempfile.TemporaryFile()


def _head(file: IO[bytes], size: int) -> str:
    file.seek(0)
    return file.read(size).decode("utf-8", "replace")
