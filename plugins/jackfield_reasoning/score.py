"""Reasoning Gym's scorers as a reward."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import define, field

from jackfield.component import option
from jackfield.stages import Tokenizer
from jackfield.types import Rollout, Task, Verdict
from jackfield_reasoning.arithmetic import TARGETS, score_expression
from jackfield_reasoning.generators import EVALUATES, generator
from jackfield_reasoning.sorting import score_sorted

LONGEST = 10_000
"""Characters of an answer; scorers are not made for more."""


@define(kw_only=True)
class ReasoningGymScore:
    """What the task's own scorer gives the last complete ``<answer>``, mostly 0 or 1; many give part of it to an answer that holds the
    right one among other text. No answer scores 0.

    Answers to ``countdown`` and ``puzzle24`` are read here: 1 for the target reached exactly with just the given numbers, else 0. So are
    those to ``number_sorting``: 1 for exactly the given numbers in order, else 0.
    Tasks whose scorer would run the answer as Python are refused before the run; so are tasks of other data abstained from.
    """

    answer_tag: str = option("answer", help="the last complete <answer_tag>…</answer_tag> is scored")

    _scorers: dict[str, Any] = field(factory=dict, init=False)

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:  # noqa: ARG002
        """Why a task is never scored here."""
        name = task.extra.get("reasoning_gym", {}).get("dataset")
        return f"the scorer of {name} would run the answer as Python; use another reward" if name in EVALUATES else None

    def judge(self, rollout: Rollout) -> Verdict:
        puzzle = rollout.task.extra.get("reasoning_gym")
        if puzzle is None:
            return Verdict.abstain("not a task of the data 'reasoning_gym'")
        if puzzle["dataset"] in EVALUATES:
            return Verdict.abstain(f"the scorer of {puzzle['dataset']} would run the answer as Python")
        answer = self._answer(rollout)
        if answer is None:
            return Verdict.score(0.0, reason=f"no <{self.answer_tag}>…</{self.answer_tag}> in the completion")
        if len(answer) > LONGEST:
            return Verdict.score(0.0, reason=f"the answer is longer than {LONGEST} characters", parsed=answer[:LONGEST])
        value, reason = self._score(puzzle, answer)
        return Verdict.score(value, reason=reason, parsed=answer)

    def _score(self, puzzle: Mapping[str, Any], answer: str) -> tuple[float, str]:
        name, entry = puzzle["dataset"], puzzle["entry"]
        if name in TARGETS:
            return score_expression(answer, entry["metadata"]["numbers"], TARGETS[name](entry["metadata"]))
        if name == "number_sorting":
            return score_sorted(answer, entry["metadata"]["original_numbers"], entry["metadata"]["direction"])
        key = json.dumps([name, puzzle["config"]], sort_keys=True)
        if key not in self._scorers:
            self._scorers[key] = generator(name, puzzle["config"], seed=0, size=1)
        return float(self._scorers[key].score_answer(answer, entry)), f"by the scorer of {name}"

    def _answer(self, rollout: Rollout) -> str | None:
        """Of the last turn that has one; between the last closing tag's nearest opening tag and the closing tag after that."""
        opening, closing = f"<{self.answer_tag}>", f"</{self.answer_tag}>"
        for text in (segment.text for segment in reversed(rollout.segments) if segment.writer == "policy"):
            start = text.rfind(opening, 0, max(text.rfind(closing), 0))
            if start >= 0:
                return text[start + len(opening) :].partition(closing)[0].strip()
        return None
