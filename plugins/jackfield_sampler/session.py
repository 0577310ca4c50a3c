"""One rollout's conversation with the sampler."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from jackfield.stages import Turn
from jackfield.types import IntArray
from jackfield_sampler.batch import Row

if TYPE_CHECKING:
    from jackfield_sampler.scheduler import Scheduler


class SamplerSession:
    """All ids of a conversation, and how many of them are computed in its slot. It takes a slot with its first ``generate``."""

    def __init__(self, scheduler: Scheduler, prompt: IntArray, *, prefix: str, seed: int, temperature: float) -> None:
        if len(prompt) == 0:
            raise ValueError("a prompt must have at least one token")
        if temperature < 0:
            raise ValueError(f"the temperature must not be negative, found {temperature}")
        self.ids: list[int] = prompt.tolist()
        self.prompt: Hashable = (prefix, prompt.tobytes())
        self.prompt_length = len(prompt)
        self.temperature = temperature
        self.slot: int | None = None
        self.computed = 0
        self._scheduler = scheduler
        self._uniform = np.random.Generator(np.random.Philox(key=seed))
        self._closed = False

    def extend(self, tokens: IntArray) -> None:
        """Tokens somebody else wrote; computed with the next ``generate``."""
        self.ids.extend(tokens.tolist())

    async def generate(self, max_new_tokens: int, stop: Sequence[str]) -> Turn:
        """See ``stages.Session``. At temperature 0 the log-probs are those of temperature 1.

        A budget of 0 gives an empty turn. If the caller is cancelled the session is closed.
        """
        if self._closed:
            raise RuntimeError("the session is closed")
        try:
            return await self._scheduler.write(self, max_new_tokens, stop)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the slot back; a turn being written fails. Safe to call twice."""
        if not self._closed:
            self._closed = True
            self._scheduler.leave(self)

    @property
    def num_pending(self) -> int:
        """Tokens that are not in the cache yet: a prompt, an observation, the token drawn last."""
        return len(self.ids) - self.computed

    def row(self, limit: int | None) -> Row:
        """The pending tokens, at most ``limit`` of them, as part of a batch."""
        assert self.slot is not None, "only sessions with a slot are computed"
        end = len(self.ids) if limit is None else self.computed + limit
        return Row(self.slot, self.computed, self.ids[self.computed : end])

    def uniform(self) -> float:
        """The next random number in [0, 1) of this rollout: one a token."""
        return self._uniform.random()
