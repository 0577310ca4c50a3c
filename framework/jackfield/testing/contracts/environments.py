"""What an environment promises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jackfield.rollout import Players, play
from jackfield.stages import Environment, Tool
from jackfield.testing.fakes import CharTokenizer, ScriptedEngine
from jackfield.testing.material import TURNS, task
from jackfield.types import Rollout


def check_environment(environment: Environment, tools: Mapping[str, Tool]) -> None:
    """Plays policies of every kind to an explained end, and keeps no state of a rollout on itself.

    The rollout holds just the ids the engine saw; the policy's segments just what was sampled.
    """
    missing = set(getattr(environment, "requires_tools", ())) - set(tools)
    assert not missing, f"requires_tools names {sorted(missing)}; give them as tools"
    for name, turns in TURNS.items():
        alone, together = (_played(environment, tools, turns, members) for members in (1, 3))
        for rollout, session in (*alone, *together):
            assert rollout.finish.reason != "failed", f"{name}: the rollout failed: {rollout.finish.detail}"
            assert session.closed, f"{name}: the conversation was left open; end with episode.finish(…)"
            assert rollout.tokens.tolist() == session.context, f"{name}: the rollout's ids are not those that the engine saw"
            written = [s.tokens.tolist() for s in rollout.segments if s.writer == "policy"]
            assert written == session.sampled, f"{name}: segments of the policy are not just what was sampled"
            assert rollout.segments[0].writer == "task", f"{name}: the first segment is not the task's prompt"
            bad = {key: value for key, value in rollout.counters.items() if not np.isfinite(value)}
            assert not bad, f"{name}: counters are not finite: {bad}"
            assert rollout.tokens.tolist() == alone[0][0].tokens.tolist(), f"{name}: rollouts played at once disturb each other"


def _played(environment: Environment, tools: Mapping[str, Tool], turns: tuple[str, ...], members: int) -> list[tuple[Rollout, Any]]:
    tokenizer = CharTokenizer()
    engine = ScriptedEngine(tokenizer, turns)
    [group] = play(
        Players(environment=environment, engine=engine, tokenizer=tokenizer, tools=tools, run_seed=0),
        [task()],
        step=0,
        group_size=members,
        temperature=1.0,
    )
    sessions = {session.member: session for session in engine.sessions}
    for rollout in group:
        assert rollout.member in sessions, f"no conversation was started: {rollout.finish}"
    return [(rollout, sessions[rollout.member]) for rollout in group]
