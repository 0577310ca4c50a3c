"""The process that compares answers: one JSON question a line on standard input, one JSON reply a line on standard output.

It ends itself by an alarm when a question takes too long (sympy cannot be interrupted otherwise), also if whoever asked is gone, and
ends when its standard input does. Questions: ``{"seconds": 5, "read": TEXT}`` and
``{"seconds": 5, "golds": [TEXT, …], "answer": TEXT, "tolerance": 0}``.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from typing import Any

MEMORY = 4 << 30
"""Bytes of address space."""


def reply(question: dict[str, Any]) -> dict[str, Any]:
    """The answer to one question: ``readable``, ``matched`` (the gold answer that is equal), or ``failure``."""
    from jackfield_math.equality import equal, readable

    try:
        if "read" in question:
            return {"readable": readable(question["read"])}
        golds = [gold for gold in question["golds"] if readable(gold)]
        if not golds:
            return {"golds": 0}
        if not readable(question["answer"]):
            return {"golds": len(golds), "readable": False}
        matched = next((gold for gold in golds if equal(gold, question["answer"], question["tolerance"])), None)
        return {"golds": len(golds), "readable": True, "matched": matched}
    except Exception as error:  # also MemoryError and RecursionError: this question failed, the next may not
        return {"failure": f"{type(error).__name__}: {error}"[:200]}


def main() -> None:
    """Answer until standard input ends. The first line out says that everything is imported."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints must not look like a reply
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which closes this process
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    import jackfield_math.equality  # noqa: F401

    print("{}", file=out, flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, question["seconds"])
        told = json.dumps(reply(question))
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(told, file=out, flush=True)


if __name__ == "__main__":
    main()
