"""Labels of steps that the data brings along."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING

from attrs import frozen

from jackfield.stages import Tokenizer
from jackfield.types import Rollout, Task, Verdict

if TYPE_CHECKING:
    from jackfield.corridor import Corridor

LABELS = "step_labels"
"""The key of ``task.extra``: for every recorded attempt a sequence with a number in [0, 1] for each of its turns."""

SAMPLED = 'has labels of recorded attempts, and this engine samples others; write [engine] use = "recorded"'


@frozen(kw_only=True)
class StepLabels:
    """What the data says of the steps of a recorded attempt, each at its turn: 1 for a right step, 0 for a wrong one, or between (a
    share of annotators, or of continuations that came out right). The score is their sum.

    It reads ``task.extra["step_labels"]``, a label for every turn of every recorded attempt, and nothing that was written, so it fits runs
    that play recorded attempts (``[engine] use = "recorded"``) only. It abstains where the data has no labels of an attempt; before a run
    starts, rows whose labels do not fit their attempts are refused.
    """

    def check_recipe(self, corridor: Corridor) -> list[str]:
        """Steps that the policy samples are not those that were labelled."""
        return [SAMPLED] if corridor.engine.samples else []

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:  # noqa: ARG002
        """What is wrong with a task's labels."""
        labels, count = task.extra.get(LABELS), len(task.recorded)
        if labels is None:
            return "has no step_labels of its recorded attempts"
        if not _is_list(labels) or not all(map(_is_list, labels)):
            return f"step_labels must be a list of numbers for every recorded attempt, found {labels!r}"
        if len(labels) != count:
            return f"has step_labels of {len(labels)} attempts, but {count} are recorded"
        for number, (given, turns) in enumerate(zip(labels, task.recorded, strict=True), start=1):
            if len(given) != len(turns):
                return f"attempt {number} has {len(given)} labels for {len(turns)} steps"
            wrong = [f"step {step} is {label!r}" for step, label in enumerate(given, 1) if not _is_label(label)]
            if wrong:
                return f"attempt {number}: the label of {', '.join(wrong)}; expected a number from 0 to 1"
        return None

    def judge(self, rollout: Rollout) -> Verdict:
        """The labels of the attempt that this member plays."""
        given, row = rollout.task.extra.get(LABELS, ()), rollout.task.origin or rollout.task.id
        if rollout.member >= len(given):
            return Verdict.abstain(f"{row} has no labels of attempt {rollout.member + 1}")
        labels = tuple(float(label) for label in given[rollout.member])
        played = sum(segment.writer == "policy" for segment in rollout.segments)
        if played != len(labels):
            return Verdict.error(
                f"{row}: {played} steps of attempt {rollout.member + 1} were played, which has {len(labels)} labels"
            )
        right = sum(label > 0.5 for label in labels)
        return Verdict.score(sum(labels), reason=f"{right} of {len(labels)} steps are right", turns=labels)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_label(value: object) -> bool:
    return isinstance(value, Real) and 0 <= float(value) <= 1
