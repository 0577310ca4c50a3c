"""Who is computed when: shared prompts, kept caches, freed slots, and ends in the middle of things."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jackfield.types import Task
from jackfield_sampler import scheduler

TASK = Task(id="task", prompt=())
Forwards = list[list[tuple[int, int, int]]]


@pytest.fixture
def engine(tiny: Any, start: Any) -> Callable[..., Any]:
    """An engine over a tiny Llama that records its forward passes: (slot, start, number of tokens) of every row."""
    module = tiny("llama")

    def build(**options: Any) -> tuple[Any, Forwards]:
        built = start(module, **options)
        network = built._scheduler._network
        forward, forwards = network.forward, []

        def recorded(batch: Any) -> Any:
            forwards.append([(row.slot, row.start, len(row.ids)) for row in batch.rows])
            return forward(batch)

        network.forward = recorded
        return built, forwards

    return build


def _open(engine: Any, prompt: Any = None, **options: Any) -> Any:
    prompt = np.arange(8) if prompt is None else prompt
    return engine.open(prompt, **{"task": TASK, "member": 0, "prefix": "", "seed": 0, "temperature": 1.0, **options})


def test_a_groups_prompt_is_computed_once(engine: Any, script: Any, play: Any) -> None:
    """Members share the prompt; each computes only its last token. The same ids under another prefix are another prompt."""
    built, forwards = engine()
    members = [script(prompt=np.arange(40), budgets=(3,), prefix="group", seed=seed) for seed in range(5)]
    play(built, *members, script(prompt=np.arange(40), budgets=(3,), prefix="other"))
    prefill = [row for forward in forwards for row in forward if row[2] > 1]
    assert sorted(prefill) == [(0, 0, 40), (5, 0, 40)]
    assert [(row[1], row[2]) for row in forwards[1]] == [(39, 1)] * 4


def test_a_late_member_still_shares(engine: Any, script: Any, play: Any) -> None:
    """Also when a member starts after the one that computed the prompt has gone, as long as its slot was not taken."""
    built, forwards = engine(max_rows=1)
    play(built, *[script(prompt=np.arange(40), budgets=(2,), prefix="group", seed=seed) for seed in range(3)])
    assert [row for forward in forwards for row in forward if row[2] > 1] == [(0, 0, 40)]


def test_a_turn_costs_only_its_new_tokens(engine: Any, script: Any, play: Any) -> None:
    """The cache is kept between turns: after an observation of 6 tokens, 7 are computed (the last drawn one is new as well)."""
    built, forwards = engine()
    play(built, script(prompt=np.arange(20), budgets=(3, 2), observations=(np.arange(6),)))
    assert forwards == [[(0, 0, 20)], [(0, 20, 1)], [(0, 21, 1)], [(0, 22, 7)], [(0, 29, 1)]]


def test_a_finished_row_leaves_at_once(engine: Any, script: Any, play: Any) -> None:
    """Rows of 1, 2 and 4 tokens: the batch shrinks with every end."""
    built, forwards = engine()
    play(built, *[script(prompt=np.arange(5 + n), budgets=(n,), prefix=str(n)) for n in (1, 2, 4)])
    assert [len(forward) for forward in forwards] == [3, 2, 1, 1]


def test_arrivals_join_between_steps(engine: Any) -> None:
    """A session that comes while others write is decoded together with them, and does not wait for their end."""
    built, forwards = engine()

    async def run() -> None:
        first = asyncio.create_task(_open(built).generate(30, ()))
        while len(forwards) < 5:
            await asyncio.sleep(0)
        late = await _open(built, prefix="late").generate(3, ())
        assert not first.done()
        assert len(late.tokens) == 3
        await first

    asyncio.run(run())
    assert any(len(forward) == 2 for forward in forwards)


def test_arrivals_wait_until_a_prefill_pays(engine: Any, script: Any, play: Any) -> None:
    """Nine rows come back from their turns one step apart while others write: they are prefilled in fewer, larger batches."""
    built, forwards = engine()
    scripts = [script(prompt=np.arange(3 + n), budgets=(3 + n, 30), observations=(np.arange(4),), prefix=str(n)) for n in range(9)]
    play(built, *scripts)
    later = [sum(row[2] > 1 for row in forward) for forward in forwards[1:]]
    later = [rows for rows in later if rows]
    assert sum(later) == 9
    assert len(later) <= 6
    assert max(later) >= 2


def test_prefill_is_cut_into_batches(engine: Any, script: Any, play: Any) -> None:
    """No forward pass holds more padded tokens than ``prefill_tokens``; a longer prompt comes in pieces."""
    built, forwards = engine(prefill_tokens=16)
    play(built, *[script(prompt=np.arange(n), budgets=(2,), prefix=str(n)) for n in (3, 5, 5, 40)])
    assert all(len(forward) * max(row[2] for row in forward) <= 16 for forward in forwards)
    assert [row for forward in forwards for row in forward if row[0] == 3][:3] == [(3, 0, 16), (3, 16, 16), (3, 32, 8)]


def test_more_sessions_than_slots_queue(engine: Any, script: Any, play: Any) -> None:
    """Eleven rollouts of two turns on two slots: all finish, never more than two rows at once."""
    built, forwards = engine(max_rows=2)
    scripts = [script(prompt=np.arange(4 + n), budgets=(3, 3), observations=(np.arange(2),), prefix=str(n)) for n in range(11)]
    play(built, *scripts)
    assert all(len(s.turns) == 2 for s in scripts)
    assert max(len(forward) for forward in forwards) == 2
    assert built._scheduler._slots.num_free == 2


def test_idle_sessions_lose_their_slot_before_everything_stands_still(
    engine: Any, script: Any, play: Any, monkeypatch: Any, full_logp: Any
) -> None:
    """All slots held by sessions that wait for one without a slot: one is evicted and computed anew, with the same draws."""
    monkeypatch.setattr(scheduler, "PATIENCE", 0.01)
    built, forwards = engine(max_rows=1)
    reference, _ = engine()
    alone = script(prompt=np.arange(8), budgets=(4, 4), observations=(np.arange(3),))
    play(reference, alone)

    async def run() -> list[int]:
        holder = _open(built)
        turns = [await holder.generate(4, ())]
        inner = _open(built, np.arange(5), prefix="inner")
        assert len((await inner.generate(3, ())).tokens) == 3
        holder.extend(np.arange(3))
        inner.close()
        turns.append(await holder.generate(4, ()))
        return [int(token) for turn in turns for token in turn.tokens]

    drawn = asyncio.run(run())
    assert drawn == [int(token) for turn in alone.turns for token in turn.tokens]
    assert (0, 0, 8 + 4 + 3) in [row for forward in forwards for row in forward]


def test_an_engine_outlives_event_loops(engine: Any, script: Any, play: Any) -> None:
    """Every step runs in a loop of its own; nothing of a past one is used or kept."""
    built, _ = engine()
    played = [script(prompt=np.arange(6), budgets=(5,)) for _ in range(3)]
    for one in played:
        play(built, one)
        assert built._scheduler._driver is None
    assert played[0].ids == played[1].ids == played[2].ids


def test_closing_a_session_that_writes_fails_its_turn_only(engine: Any) -> None:
    """Another coroutine closes it: its generate raises, the others go on, its slot is free."""
    built, forwards = engine(max_rows=4)

    async def run() -> None:
        closing, staying = _open(built), _open(built, prefix="staying")
        turns = [asyncio.create_task(session.generate(20, ())) for session in (closing, staying)]
        while len(forwards) < 6:
            await asyncio.sleep(0)
        closing.close()
        with pytest.raises(RuntimeError, match="closed while"):
            await turns[0]
        assert len((await turns[1]).tokens) == 20
        staying.close()

    asyncio.run(run())
    assert built._scheduler._slots.num_free == 4


@pytest.mark.parametrize("max_rows", [1, 8])
def test_a_cancelled_caller_leaves_nothing_behind(max_rows: int, engine: Any) -> None:
    """Live or waiting: its slot is free, the others finish, and the driver ends."""
    built, forwards = engine(max_rows=max_rows)

    async def run() -> None:
        sessions = [_open(built, prefix=str(n), seed=n) for n in range(3)]
        turns = [asyncio.create_task(session.generate(15, ())) for session in sessions]
        while len(forwards) < 4:
            await asyncio.sleep(0)
        for turn in (turns[0], turns[2]):
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
        assert len((await turns[1]).tokens) == 15
        sessions[1].close()

    asyncio.run(run())
    assert built._scheduler._slots.num_free == max_rows
    assert not built._scheduler._live
    assert not built._scheduler._waiting


def test_an_interrupted_run_leaves_no_turn_pending(engine: Any) -> None:
    """Ctrl-C reaches asyncio as the cancellation of everything: each pending turn is cancelled, and the engine can be used again."""
    built, forwards = engine(max_rows=2)
    ended: list[type[BaseException]] = []

    async def rollout(n: int) -> None:
        try:
            await _open(built, prefix=str(n)).generate(1000, ())
        except BaseException as error:
            ended.append(type(error))
            raise

    async def run() -> None:
        async with asyncio.TaskGroup() as group:
            for n in range(5):
                group.create_task(rollout(n))
            while len(forwards) < 3:
                await asyncio.sleep(0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run())
    assert ended == [asyncio.CancelledError] * 5
    assert built._scheduler._slots.num_free == 2

    async def again() -> int:
        session = _open(built)
        turn = await session.generate(4, ())
        session.close()
        return len(turn.tokens)

    assert asyncio.run(again()) == 4


def test_an_interrupt_in_the_middle_of_a_step_cancels_every_turn(engine: Any) -> None:
    """The second Ctrl-C raises where the computation is: it goes through, and no caller waits forever."""
    built, _ = engine()
    network = built._scheduler._network
    forward = network.forward
    ended = []

    def interrupted(batch: Any) -> Any:
        raise KeyboardInterrupt

    async def rollout(n: int) -> None:
        try:
            await _open(built, prefix=str(n)).generate(5, ())
        except asyncio.CancelledError:
            ended.append(n)
            raise

    async def run() -> None:
        await asyncio.gather(*(rollout(n) for n in range(3)))

    network.forward = interrupted
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run())
    network.forward = forward
    assert sorted(ended) == [0, 1, 2]
    assert built._scheduler._driver is None


def test_a_cancelled_driver_cancels_every_turn(engine: Any) -> None:
    """Whoever cancels all tasks cancels the driver too: no caller waits forever for it."""
    built, forwards = engine(max_rows=2)

    async def run() -> list[Any]:
        turns = [asyncio.create_task(_open(built, prefix=str(n)).generate(50, ())) for n in range(3)]
        while len(forwards) < 3:
            await asyncio.sleep(0)
        built._scheduler._driver.cancel()
        async with asyncio.timeout(5):
            return await asyncio.gather(*turns, return_exceptions=True)

    assert [type(result) for result in asyncio.run(run())] == [asyncio.CancelledError] * 3


def test_a_failing_network_fails_every_turn(engine: Any) -> None:
    """An error in a step (out of memory, say) reaches all callers instead of leaving them waiting; later turns work again."""
    built, _ = engine()
    network = built._scheduler._network
    forward = network.forward

    def failing(batch: Any) -> Any:
        raise MemoryError("no room")

    async def run(count: int) -> list[Any]:
        sessions = [_open(built, prefix=str(n)) for n in range(count)]
        results = await asyncio.gather(*(session.generate(5, ()) for session in sessions), return_exceptions=True)
        for session in sessions:
            session.close()
        return results

    network.forward = failing
    assert [type(result) for result in asyncio.run(run(3))] == [MemoryError] * 3
    network.forward = forward
    assert [len(turn.tokens) for turn in asyncio.run(run(2))] == [5, 5]


def test_weights_do_not_change_under_a_turn(engine: Any) -> None:
    """``refresh`` while a turn is being written is a mistake of the caller; between turns it makes an open session start over."""
    built, forwards = engine()

    async def run() -> None:
        session = _open(built)
        turn = asyncio.create_task(session.generate(6, ()))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="cannot change"):
            built.refresh(1)
        await turn
        built.refresh(1)
        await session.generate(2, ())
        session.close()

    asyncio.run(run())
    assert (0, 0, 14) in [row for forward in forwards for row in forward]
