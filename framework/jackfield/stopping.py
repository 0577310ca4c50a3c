"""What Ctrl-C does to a run."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from jackfield.errors import StopRun


class Stopping:
    """What Ctrl-C does during a run: the first is a request to end after the current step, or at once where no step is
    under way; a second one ends at once anyhow."""

    def __init__(self) -> None:
        self.asked = False
        self._at_once = False
        self._before: Callable[..., Any] | int | None = None

    def __enter__(self) -> Stopping:
        if threading.current_thread() is threading.main_thread():  # elsewhere signals cannot be handled
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Inside, Ctrl-C raises StopRun where it stands: there is nothing to lose."""
        self._at_once = True
        try:
            yield
        except KeyboardInterrupt as interrupt:
            raise StopRun("interrupted") from interrupt
        finally:
            self._at_once = False

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        if self.asked or self._at_once:
            raise KeyboardInterrupt
        self.asked = True
        print("stopping after this step (Ctrl-C again: at once, without it)", file=sys.stderr, flush=True)  # noqa: T201
