"""The check of environments finds the fault it is for."""

from __future__ import annotations

import pytest
from attrs import evolve

from jackfield.rollout import Episode
from jackfield.testing.contracts import check_environment
from jackfield.testing.fakes import ScriptedTool
from jackfield.types import Rollout


class OneTurn:
    async def play(self, episode: Episode) -> Rollout:
        episode.start(episode.task.prompt)
        turn = await episode.generate(20)
        episode.observe("seen")
        return episode.finish("eos" if turn.ended_by == "eos" else "length")


class Crashing(OneTurn):
    async def play(self, episode: Episode) -> Rollout:
        raise RuntimeError("boom")


class CrashingLate(OneTurn):
    async def play(self, episode: Episode) -> Rollout:
        await super().play(episode)
        raise RuntimeError("boom")


class Claiming(OneTurn):
    async def play(self, episode: Episode) -> Rollout:
        rollout = await super().play(episode)
        return evolve(rollout, segments=tuple(evolve(s, writer="policy") for s in rollout.segments))


class Remembering(OneTurn):
    episode: Episode

    async def play(self, episode: Episode) -> Rollout:
        self.episode = episode
        episode.start(episode.task.prompt)
        await episode.generate(20)
        self.episode.observe("seen")
        return episode.finish("eos")


class CountingNan(OneTurn):
    async def play(self, episode: Episode) -> Rollout:
        episode.count("shares", float("nan"))
        return await super().play(episode)


def test_good_environment_passes() -> None:
    """An environment that plays by the episode is sound."""
    check_environment(OneTurn(), {})


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        (Crashing(), "no conversation was started"),
        (CrashingLate(), "RuntimeError: boom"),
        (Claiming(), "not just what was sampled"),
        (Remembering(), "not those that the engine saw|disturb each other|failed"),
        (CountingNan(), "counters are not finite"),
    ],
)
def test_bad_environments_are_found(environment: OneTurn, found: str) -> None:
    """Crashes, claimed tokens, state shared by rollouts and senseless counters are named."""
    with pytest.raises(AssertionError, match=found):
        check_environment(environment, {})


def test_missing_tools_are_found() -> None:
    """An environment's own list of tools is held against what it is given."""
    environment = OneTurn()
    environment.requires_tools = ("search",)  # type: ignore[attr-defined]
    with pytest.raises(AssertionError, match="search"):
        check_environment(environment, {})
    check_environment(environment, {"search": ScriptedTool()})
