"""An engine that repeats what was recorded, so that supervised data meets the same environments and tools as a sampling policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from attrs import define, field

from jackfield.errors import DataError, Problem, RolloutFailure
from jackfield.stages import LanguageModel, Tokenizer, Turn
from jackfield.types import IntArray, Task
from jackfield.words import counted


@define(kw_only=True)
class Recorded:
    """Plays ``task.recorded``: member m of a group says, turn by turn, what attempt m says.

    Turn k is the ids of ``recorded[m][k]``, encoded alone as an observation would be. The last turn ends with the end-of-turn
    token, which is trained on: the policy shall learn to stop. The turns before it end as sampled ones do, by a stop string.

    What was recorded is never cut. DataError, naming the row, where a task has fewer attempts than ``group_size``, or an attempt has
    fewer turns than the environment asks for; a failed rollout where observations leave no room for a turn.
    """

    holds: ClassVar[str] = ""
    samples: ClassVar[bool] = False

    _tokenizer: Tokenizer | None = field(default=None, init=False)
    _encoded: dict[str, IntArray] = field(factory=dict, init=False)

    def start(self, policy: LanguageModel, tokenizer: Tokenizer) -> None:  # noqa: ARG002
        """Take the tokenizer; the policy has nothing to say here."""
        self._tokenizer = tokenizer

    def refresh(self, policy_version: int) -> None:
        """Recorded answers do not change with the policy."""

    def open(self, prompt: IntArray, *, task: Task, member: int, prefix: str, seed: int, temperature: float) -> RecordedSession:  # noqa: ARG002
        """Start playing attempt ``member`` of the task."""
        if member >= len(task.recorded):
            raise _wrong(
                task, f"has {counted(len(task.recorded), 'recorded attempt')}, but group_size asks for member {member + 1}"
            )
        return RecordedSession(engine=self, task=task, member=member)

    def encode(self, text: str) -> IntArray:
        """[L] ids of a turn; each text is encoded once in a run."""
        if text not in self._encoded:
            self._encoded[text] = self._started().encode(text)
        return self._encoded[text]

    @property
    def eos_id(self) -> int:
        return self._started().eos_id

    def _started(self) -> Tokenizer:
        if self._tokenizer is None:
            raise RuntimeError("the engine has not been started")
        return self._tokenizer


@define(kw_only=True)
class RecordedSession:
    """One recorded attempt being played."""

    engine: Recorded
    task: Task
    member: int
    _played: int = field(default=0, init=False)

    def extend(self, tokens: IntArray) -> None:
        """What others write does not change what was recorded."""

    async def generate(self, max_new_tokens: int, stop: Sequence[str]) -> Turn:
        """The next recorded turn, whole."""
        turns = self.task.recorded[self.member]
        if self._played >= len(turns):
            asked = (
                f"but the environment asks for turn {self._played + 1}: the answer does not end the rollout, or a turn is missing"
            )
            raise self._wrong(f"has {counted(len(turns), 'turn')}, {asked}")
        text = turns[self._played]
        self._played += 1
        last = self._played == len(turns)
        tokens = np.append(self.engine.encode(text), self.engine.eos_id) if last else self.engine.encode(text)
        if len(tokens) > max_new_tokens:  # more than a turn may have was refused before the run: observations have taken the room
            raise RolloutFailure(f"recorded turn {self._played} has {len(tokens)} tokens, and {max_new_tokens} are left for it")
        stopped = any(s in text for s in stop)
        return Turn(tokens=tokens, text=text, logp=None, ended_by="eos" if last else "stop" if stopped else "length")

    def close(self) -> None:
        """Nothing is held."""

    def _wrong(self, message: str) -> DataError:
        return _wrong(self.task, f"recorded attempt {self.member + 1} {message}")


def _wrong(task: Task, message: str) -> DataError:
    return DataError(Problem(task.origin, f"task {task.id}", message))
