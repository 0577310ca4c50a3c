"""One running batch for all sessions: who joins it when, who leaves it, and one token for everybody in it per step."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import torch
from attrs import define, field

from jackfield.stages import Tokenizer, Turn
from jackfield_sampler.batch import Batch, Network
from jackfield_sampler.cache import SlotTable
from jackfield_sampler.sampling import draw
from jackfield_sampler.session import SamplerSession
from jackfield_sampler.stops import StopStrings

QUIET_ROUNDS = 8
"""The event loop is taken to be at rest after so many rounds without a call to the sampler."""
PATIENCE = 1.0
"""Seconds to wait for a session to free its slot or go on, when nothing else can run, before idle sessions lose theirs."""


@define(eq=False)
class Writing:
    """A turn being written."""

    session: SamplerSession
    budget: int
    stops: StopStrings
    future: asyncio.Future[Turn]
    tokens: list[int] = field(factory=list)
    logp: list[float] = field(factory=list)


class Scheduler:
    """Runs the network for all sessions of an engine.

    A driver task exists while there is something to write. Between two steps it lets every coroutine that is ready run until it
    waits, so that the order of events, and with it every batch, is the same in every run (unless tools answer from threads or
    the network). Only this order depends on scheduling; what a session draws does not.
    """

    def __init__(self, network: Network, tokenizer: Tokenizer, *, max_rows: int, prefill_tokens: int) -> None:
        self.policy_version = 0
        self._network = network
        self._tokenizer = tokenizer
        self._prefill_tokens = prefill_tokens
        self._slots = SlotTable(max_rows)
        self._holders: dict[int, SamplerSession] = {}
        self._stops: dict[tuple[str, ...], StopStrings] = {}
        self._waiting: list[Writing] = []
        self._live: list[Writing] = []
        self._lost_row_steps = 0
        self._events = 0
        self._happened = asyncio.Event()
        self._driver: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------------------------------- what sessions call

    async def write(self, session: SamplerSession, max_new_tokens: int, stop: Sequence[str]) -> Turn:
        """The session's next turn."""
        if any(writing.session is session for writing in (*self._waiting, *self._live)):
            raise RuntimeError("the session is writing a turn already")
        loop = asyncio.get_running_loop()
        writing = Writing(session, max_new_tokens, self._stop_strings(stop), loop.create_future())
        if max_new_tokens < 1:
            return self._turn(writing, "length")
        self._waiting.append(writing)
        self._note_event()
        if self._driver is None or self._driver.get_loop() is not loop:
            self._happened = asyncio.Event()
            self._driver = loop.create_task(self._drive())
            self._driver.add_done_callback(self._driver_ended)
        return await writing.future

    def leave(self, session: SamplerSession) -> None:
        """The session is closed: its slot is free, a turn it was writing fails."""
        for queue in (self._waiting, self._live):
            for writing in [w for w in queue if w.session is session]:
                queue.remove(writing)
                if not writing.future.done():
                    writing.future.set_exception(RuntimeError("the session was closed while it was writing"))
        self._take_slot_from(session)
        self._note_event()

    def refresh(self, policy_version: int) -> None:
        """Take over the policy's weights; nothing computed so far is used again."""
        if self._waiting or self._live:
            raise RuntimeError("the weights cannot change while turns are being written")
        self._network.refresh()
        self.policy_version = policy_version
        self._slots.forget_prompts()
        for session in list(self._holders.values()):
            self._take_slot_from(session)

    # --------------------------------------------------------------------------------------------------- the driver

    async def _drive(self) -> None:
        """Until nothing is to be written. Whatever ends it early ends every pending turn."""
        try:
            while True:
                await self._settle()
                if arrivals := self._arrivals():
                    self._admit(arrivals)
                elif self._live:
                    self._advance(self._live)
                elif self._waiting:
                    await self._wait_for_a_slot()
                else:
                    return
        except Exception as error:  # handed to whoever waits for a turn
            for writing in self._drop_all():
                writing.future.set_exception(error)
        except BaseException:
            for writing in self._drop_all():
                writing.future.cancel()
            raise

    async def _settle(self) -> None:
        """Let all coroutines that can run do so."""
        quiet = 0
        while quiet < QUIET_ROUNDS:
            before = self._events
            await asyncio.sleep(0)
            quiet = quiet + 1 if self._events == before else 0

    def _arrivals(self) -> list[Writing]:
        """Who joins the batch now, if anybody.

        Prefilling few rows holds up the live rows nearly as long as prefilling many: about one step. So arrivals wait until they
        have lost, together, as many row-steps as the live rows would lose.
        """
        with_slot = [w for w in self._waiting if w.session.slot is not None]
        without = [w for w in self._waiting if w.session.slot is None][: self._slots.num_free]
        ready = with_slot + without
        if not ready:
            return []
        self._lost_row_steps += len(ready)
        if self._lost_row_steps < len(self._live):
            return []
        self._lost_row_steps = 0
        return ready

    @torch.inference_mode()
    def _admit(self, arrivals: list[Writing]) -> None:
        """Compute what the arrivals bring and draw a token for each. A prompt that several share is computed for the first of them."""
        self._waiting = [w for w in self._waiting if w not in arrivals]
        self._live.extend(arrivals)
        first: list[Writing] = []
        followers: list[Writing] = []
        being_computed = set()
        for writing in arrivals:
            session = writing.session
            if session.slot is None:
                self._give_slot_to(session)
            if session.computed == 0 and session.prompt in being_computed:
                followers.append(writing)
            else:
                being_computed.add(session.prompt)
                first.append(writing)
        self._advance(first)
        for writing in first:
            self._slots.hold(_slot(writing), writing.session.prompt)
        for writing in followers:
            self._share_prompt(writing.session)
        self._advance(followers)

    @torch.inference_mode()
    def _advance(self, writings: Sequence[Writing]) -> None:
        """One token for each of ``writings``, after computing whatever tokens they have not computed yet."""
        for batch in self._batches(writings):
            self._draw(batch, self._compute([writing.session for writing in batch]))

    def _batches(self, writings: Sequence[Writing]) -> Iterator[list[Writing]]:
        """``writings`` cut into batches of at most ``prefill_tokens`` padded tokens, those with equally much to compute together."""
        batch: list[Writing] = []
        for writing in sorted(writings, key=lambda w: (w.session.num_pending, _slot(w))):
            if batch and (len(batch) + 1) * writing.session.num_pending > self._prefill_tokens:
                yield sorted(batch, key=_slot)
                batch = []
            batch.append(writing)
        if batch:
            yield sorted(batch, key=_slot)

    def _compute(self, sessions: Sequence[SamplerSession]) -> torch.Tensor:
        """[R, V] logits after everything the sessions (sorted by slot) hold. One too long for a batch comes alone, in pieces."""
        while sessions[0].num_pending > self._prefill_tokens:
            self._forward(sessions, self._prefill_tokens)
        return self._forward(sessions, None)

    def _forward(self, sessions: Sequence[SamplerSession], limit: int | None) -> torch.Tensor:
        rows = [session.row(limit) for session in sessions]
        self._network.cache.reserve(rows[-1].slot + 1, max(row.end for row in rows))
        logits = self._network.forward(Batch.of(rows, self._network.device))
        for session, row in zip(sessions, rows, strict=True):
            session.computed = row.end
        return logits

    def _draw(self, batch: Sequence[Writing], logits: torch.Tensor) -> None:
        temperatures = [writing.session.temperature for writing in batch]
        uniforms = [writing.session.uniform() for writing in batch]
        tokens, logp = draw(
            logits,
            torch.tensor(temperatures, dtype=torch.float64, device=logits.device),
            torch.tensor(uniforms, dtype=torch.float64, device=logits.device),
        )
        for writing, token, value in zip(batch, tokens.tolist(), logp.tolist(), strict=True):
            writing.session.ids.append(token)
            writing.tokens.append(token)
            writing.logp.append(value)
            ended_by = self._end(writing)
            if ended_by is not None:
                self._live.remove(writing)
                if not writing.future.done():
                    writing.future.set_result(self._turn(writing, ended_by))

    def _end(self, writing: Writing) -> Literal["stop", "eos", "length"] | None:
        if writing.tokens[-1] in self._tokenizer.eos_ids:
            return "eos"
        if writing.stops.completed_by(writing.tokens):
            return "stop"
        return "length" if len(writing.tokens) == writing.budget else None

    def _turn(self, writing: Writing, ended_by: Literal["stop", "eos", "length"]) -> Turn:
        tokens = np.array(writing.tokens, np.int64)
        return Turn(
            tokens=tokens,
            text=self._tokenizer.decode(tokens[:-1] if ended_by == "eos" else tokens),
            logp=np.array(writing.logp, np.float64),
            ended_by=ended_by,
            policy_version=self.policy_version,
        )

    # -------------------------------------------------------------------------------------------------------- slots

    def _give_slot_to(self, session: SamplerSession) -> None:
        session.slot = self._slots.take(session.prompt)
        session.computed = 0
        self._holders[session.slot] = session
        self._share_prompt(session)

    def _share_prompt(self, session: SamplerSession) -> None:
        """Copy the prompt from a slot that holds it, if one does; its last token stays to be computed, for its logits."""
        source = self._slots.holder(session.prompt)
        if source is None or session.slot is None:
            return
        self._network.cache.reserve(session.slot + 1, session.prompt_length)
        self._network.cache.copy(source, session.slot, session.prompt_length - 1)
        session.computed = session.prompt_length - 1

    def _take_slot_from(self, session: SamplerSession) -> None:
        if session.slot is not None:
            del self._holders[session.slot]
            self._slots.free(session.slot)
            session.slot = None
            session.computed = 0

    async def _wait_for_a_slot(self) -> None:
        """Sessions between turns hold all slots. If none of them goes on or closes for a while (each may be waiting for one that waits
        here), as many as are needed lose their slots and will compute their conversation again."""
        self._happened.clear()
        try:
            async with asyncio.timeout(PATIENCE):
                await self._happened.wait()
        except TimeoutError:
            for session in list(self._holders.values())[: len(self._waiting)]:
                self._take_slot_from(session)

    # ------------------------------------------------------------------------------------------------------- events

    def _note_event(self) -> None:
        self._events += 1
        self._happened.set()

    def _drop_all(self) -> list[Writing]:
        """Empty both queues; those whose caller still waits."""
        dropped = [w for w in (*self._waiting, *self._live) if not w.future.done()]
        self._waiting = []
        self._live = []
        return dropped

    def _driver_ended(self, driver: asyncio.Task[None]) -> None:
        if self._driver is driver:
            self._driver = None

    def _stop_strings(self, stop: Sequence[str]) -> StopStrings:
        key = tuple(stop)
        if key not in self._stops:
            self._stops[key] = StopStrings(self._tokenizer, key)
        return self._stops[key]


def _slot(writing: Writing) -> int:
    slot = writing.session.slot
    assert slot is not None, "only rows with a slot are computed"
    return slot
