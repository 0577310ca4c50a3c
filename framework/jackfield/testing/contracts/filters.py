"""What a filter promises."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from jackfield.stages import Filter
from jackfield.testing.contracts.declared import resumed
from jackfield.testing.material import scored_groups
from jackfield.types import Group, Scored


def check_filter(part: Filter) -> None:
    """Leaves rollouts out and does nothing else: groups and members keep their order, none is added or changed, no group is left
    empty. What is kept depends neither on that order, nor on what stands at masked positions, nor on earlier calls."""
    groups = scored_groups(others=7)
    kept = part.keep(groups)
    given = {group.id: group for group in groups}
    order = [group.id for group in kept]
    assert set(order) <= set(given), f"groups were added: {sorted(set(order) - set(given))}"
    assert order == [i for i in given if i in order], f"groups were put in another order, or given twice: {order}"
    for group in kept:
        before = [id(rollout) for rollout in given[group.id]]
        after = [id(rollout) for rollout in group]
        assert group.task is given[group.id].task, f"group {group.id} has another task"
        assert after, f"group {group.id} is empty; leave it out"
        assert set(after) <= set(before), f"a member of group {group.id} was changed or added; give the rollouts themselves"
        assert after == [i for i in before if i in after], f"members of group {group.id} were put in another order"
    _same(kept, part.keep(groups), "earlier calls (does it keep state, or write into its input?)")
    _same(kept, part.keep(scored_groups(others=9)), "masked positions")
    _same(
        kept, part.keep([evolve(group, members=group.members[::-1]) for group in groups[::-1]]), "the order of groups and members"
    )
    learnt, restored = resumed(part)
    _same(learnt.keep(groups), restored.keep(groups), "what state() does not hold")
    assert part.keep([]) == [], "of no groups it kept some"


def _same(expected: Sequence[Group[Scored]], groups: Sequence[Group[Scored]], what: str) -> None:
    def members(kept: Sequence[Group[Scored]]) -> set[tuple[str, int]]:
        return {(group.id, rollout.member) for group in kept for rollout in group}

    assert members(groups) == members(expected), f"what is kept depends on {what}"
