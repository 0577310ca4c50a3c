"""Over-long filtering."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from jackfield.types import Group, Scored


@frozen(kw_only=True)
class DropTruncated:
    """Rollouts that a token or turn budget cut off leave the step (over-long filtering; DAPO, Yu et al. 2025, arXiv 2503.14476,
    section 3.4): their reward says that there was no room, not that the attempt was wrong.

    They count neither in their group's statistics nor in the loss nor in what it is divided by. What says so is the rollout's finish
    reason (``length`` or ``turns``), never its last token. A group left without members leaves whole; one left smaller than the
    advantage estimator compares is left out by the core. Where all rollouts are cut off there is nothing to learn from: watch
    ``rollout/truncated``.
    """

    def keep(self, groups: Sequence[Group[Scored]]) -> list[Group[Scored]]:
        """The groups with the members that came to an end of their own."""
        ended = [evolve(group, members=tuple(r for r in group if not r.finish.truncated)) for group in groups]
        return [group for group in ended if len(group)]
