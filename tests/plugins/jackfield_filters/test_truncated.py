"""Over-long filtering."""

from __future__ import annotations

from collections.abc import Callable

from jackfield.types import FinishReason, Group, Scored
from jackfield_filters.truncated import DropTruncated

Judged = Callable[..., Group[Scored]]


def test_what_a_budget_cut_off_leaves(judged: Judged) -> None:
    """Pitfall 49: by the finish reason; whatever ended by itself stays, the very same rollouts in their order."""
    reasons: tuple[FinishReason, ...] = ("length", "answer", "turns", "eos", "tool_loop", "length")
    given = judged("1/0", *[0.0] * 6, reasons=reasons)
    [kept] = DropTruncated().keep([given])
    assert [id(r) for r in kept] == [id(given.members[i]) for i in (1, 3, 4)]
    assert (kept.id, kept.task) == (given.id, given.task)


def test_a_group_of_nothing_but_truncated_ones_leaves_whole(judged: Judged) -> None:
    """No group is left empty; one of them is left with a single member, for the core to judge."""
    groups = [
        judged("1/0", 1.0, 1.0, reasons=("length", "turns")),
        judged("1/1", 1.0, 0.0, reasons=("eos", "length")),
        judged("1/2", 1.0, 0.0),
    ]
    assert [(g.id, len(g)) for g in DropTruncated().keep(groups)] == [("1/1", 1), ("1/2", 2)]
    assert DropTruncated().keep(groups[:1]) == []
    assert DropTruncated().keep([]) == []


def test_the_reward_does_not_matter(judged: Judged) -> None:
    """A truncated rollout leaves with the best reward too."""
    [kept] = DropTruncated().keep([judged("1/0", 9.0, 0.0, reasons=("length", "answer"))])
    assert [r.member for r in kept] == [1]
