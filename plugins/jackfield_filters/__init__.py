"""What leaves the step after it was judged: rollouts cut off by a budget, groups that say nothing, all but the best attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jackfield import hookimpl

if TYPE_CHECKING:
    from jackfield.hookspecs import Register


@hookimpl
def jackfield_filters(register: Register) -> None:
    register(
        "drop_truncated",
        "jackfield_filters.truncated:DropTruncated",
        "Rollouts cut off by a budget leave the step (over-long filtering).",
    )
    register(
        "informative", "jackfield_filters.informative:Informative", "Only groups whose members differ in reward (dynamic sampling)."
    )
    register("best", "jackfield_filters.best:Best", "Only the best members of each group (rejection sampling).")
