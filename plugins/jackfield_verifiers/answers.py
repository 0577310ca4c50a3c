"""Judges of short answers to questions: equal, overlapping or contained, compared as SQuAD does."""

from __future__ import annotations

from collections import Counter

from attrs import frozen

from jackfield.answers import last_answer, tag_name
from jackfield.component import option
from jackfield.types import Rollout, Verdict
from jackfield_verifiers.normalise import normalise

SHOWN = 60
"""Characters of an answer in a verdict's reason; ``parsed`` holds all of it."""


@frozen(kw_only=True)
class _AnswerJudge:
    """What they share: the last complete answer of the completion against every usable gold answer, the best one counting."""

    answer_tag: str = option(
        "answer",
        help='the last complete <answer_tag>…</answer_tag> is judged; "" judges all the policy wrote',
        check=tag_name,
    )

    def judge(self, rollout: Rollout) -> Verdict:
        golds = [gold for gold in rollout.task.answers if gold.strip()]
        if not golds:
            return Verdict.abstain(f"the gold answer is missing or empty in {rollout.task.origin or rollout.task.id}")
        answer = last_answer(rollout, self.answer_tag)
        if answer is None:
            return Verdict.score(0.0, reason=f"no <{self.answer_tag}>…</{self.answer_tag}> in the completion")
        if not answer:
            return Verdict.score(0.0, reason="the answer is empty", parsed="")
        read = normalise(answer)
        value, gold = max(((self.compare(read, normalise(gold)), gold) for gold in golds), key=lambda pair: pair[0])
        return Verdict.score(value, reason=f"{_shown(answer)} {self.relation(value)} {_shown(gold)}", parsed=answer)

    def compare(self, answer: str, gold: str) -> float:
        """The score of one normalised answer against one normalised gold answer, neither empty."""
        raise NotImplementedError

    def relation(self, value: float) -> str:
        """The verb between answer and gold answer in the reason."""
        raise NotImplementedError


@frozen(kw_only=True)
class ExactMatch(_AnswerJudge):
    """1 if the answer equals a gold answer or alias after normalisation, else 0 (SQuAD exact match).

    The last complete ``<answer>`` of what the policy wrote is judged, never the prompt or an observation; ``\\boxed{…}`` in it is
    unwrapped. No answer, or an empty one, scores 0 and says so. A task without a usable gold answer is abstained from and named.
    """

    def compare(self, answer: str, gold: str) -> float:
        return float(answer == gold)

    def relation(self, value: float) -> str:
        return "equals" if value else "is not"


@frozen(kw_only=True)
class F1(_AnswerJudge):
    """Harmonic mean of word precision and recall against the nearest gold answer or alias (SQuAD F1).

    Reading and abstaining are those of ``exact_match``.
    """

    def compare(self, answer: str, gold: str) -> float:
        words, gold_words = answer.split(), gold.split()
        common = (Counter(words) & Counter(gold_words)).total()
        return 2 * common / (len(words) + len(gold_words))

    def relation(self, value: float) -> str:
        return f"overlaps by {value:.3f} with"


@frozen(kw_only=True)
class SubstringMatch(_AnswerJudge):
    """1 if the answer contains a gold answer or alias after normalisation, else 0.

    Easily gamed by listing many answers; for evaluation rather than training. Reading and abstaining are those of ``exact_match``.
    """

    whole_words: bool = option(
        True, help="the gold answer must stand as whole words ('art' is not in 'earth'); false for scripts written without spaces"
    )

    def compare(self, answer: str, gold: str) -> float:
        return float(f" {gold} " in f" {answer} " if self.whole_words else gold in answer)

    def relation(self, value: float) -> str:
        return "contains" if value else "does not contain"


def _shown(text: str) -> str:
    return repr(text) if len(text) <= SHOWN else repr(text[:SHOWN]) + "…"
