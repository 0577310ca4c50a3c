"""Judge of multiple-choice questions: the letter that was chosen."""

from __future__ import annotations

import re
import string

from attrs import frozen

from jackfield.answers import last_answer, tag_name
from jackfield.component import option
from jackfield.stages import Tokenizer
from jackfield.types import Rollout, Task, Verdict
from jackfield_verifiers.normalise import normalise

LONGEST = 2000
"""Characters at the end of a text that are looked at."""
WRAPPED = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\{([^{}]*)\}|[*_$`]+")
LETTER = r"(?:\(([A-Za-z])\)|\[([A-Za-z])\]|([B-Zb-z]|[Aa](?!\s+(?!because\b|since\b|as\b|and\b|or\b)\w))(?![\w'’]))"
"""Bare, it is no part of a word, and no article."""
ALONE = re.compile(rf"(?:(?:option|choice)\s+)?{LETTER}\s*[.):]?", re.IGNORECASE)
HEADED = re.compile(r"(?:\(([A-Za-z])\)|(?<![\w.])([A-Za-z])[.):])\s+(?=\S)")
"""As ``(B) Paris`` or ``B. Paris``."""
ANSWER = re.compile(rf"\banswer\b(?:\s+(?:is|would be|should be))?\s*:?\s*(?:(?:option|choice)\s+)?{LETTER}", re.IGNORECASE)
OPTION = re.compile(rf"\b(?:option|choice)\s+{LETTER}", re.IGNORECASE)
ANOTHER = re.compile(rf"\s*(?:,|/|&|\bor\b|\band\b)\s*(?:(?:option|choice)\s+)?{LETTER}", re.IGNORECASE)


@frozen(kw_only=True)
class MultipleChoice:
    """1 if the chosen letter is the gold letter, else 0. Lower and upper case are one.

    The last complete ``<answer>`` of what the policy wrote is read, never the prompt with its list of choices. A letter is chosen by
    ``B``, ``(B)``, ``B.``, ``**B**``, ``\\boxed{B}``, ``option B``, ``B. Paris``, ``The answer is (B)``; the bare word ``a`` or ``I``
    within a sentence is no choice. Where two letters are claimed none is chosen. If the row has ``choices`` (a list of texts in the
    order of the letters, in ``extra``), the text of a choice alone names its letter, in the answer and in the gold answer; letters
    beyond the list are no choice. Abstains, naming the row, where no gold answer is a choice.
    """

    answer_tag: str = option(
        "answer",
        help='the last complete <answer_tag>…</answer_tag> is read; "": all the policy wrote, where the letter must be alone or '
        "introduced by 'answer', 'option' or 'choice'",
        check=tag_name,
    )

    def check_task(self, task: Task, tokenizer: Tokenizer) -> str | None:  # noqa: ARG002
        """Why no answer to ``task`` could be judged."""
        return None if _golds(task) else f"no gold answer is the letter of a choice: {_listed(task)}"

    def judge(self, rollout: Rollout) -> Verdict:
        task = rollout.task
        golds = _golds(task)
        if not golds:
            return Verdict.abstain(f"no gold answer of {task.origin or task.id} is the letter of a choice: {_listed(task)}")
        answer = last_answer(rollout, self.answer_tag)
        if answer is None:
            return Verdict.score(0.0, reason=f"no <{self.answer_tag}>…</{self.answer_tag}> in the completion")
        chosen = chosen_letters(answer, _choices(task))
        if len(chosen) != 1:
            return Verdict.score(
                0.0, reason=f"chose {' and '.join(chosen)}" if chosen else "no letter of a choice in the answer", parsed=answer
            )
        [letter] = chosen
        right = letter in golds
        return Verdict.score(float(right), reason=f"chose {letter}{'' if right else f', not {golds[0]}'}", parsed=letter)


def chosen_letters(answer: str, choices: tuple[str, ...] = ()) -> list[str]:
    """The letters that ``answer`` claims, upper case, each once, in order; empty if it claims none."""
    text = WRAPPED.sub(lambda found: found[1] or "", answer[-LONGEST:]).strip()
    spelt = [
        string.ascii_uppercase[i] for i, choice in enumerate(choices) if choice.strip() and normalise(choice) == normalise(text)
    ]
    if len(spelt) == 1 and not ALONE.fullmatch(text):
        return spelt
    known = string.ascii_uppercase[: len(choices) or 26]
    claimed = dict.fromkeys(next(filter(None, found.groups())).upper() for found in _claims(text))
    return [letter for letter in claimed if letter in known]


def _claims(text: str) -> list[re.Match[str]]:
    """Where ``text`` names a letter as its choice: it is the whole text, heads it, is the answer (the last time it says so), is an
    option, or stands alone on the last line. A letter joined to it ("or B") is claimed as well."""
    if found := ALONE.fullmatch(text):
        return [found]
    if HEADED.match(text):
        return list(HEADED.finditer(text))
    if said := list(ANSWER.finditer(text))[-1:] or list(OPTION.finditer(text)):
        return [claim for first in said for claim in _joined(text, first)]
    found = ALONE.fullmatch(text.splitlines()[-1].strip()) if text else None
    return [] if found is None else [found]


def _joined(text: str, first: re.Match[str]) -> list[re.Match[str]]:
    claims = [first]
    while found := ANOTHER.match(text, claims[-1].end()):
        claims.append(found)
    return claims


def _golds(task: Task) -> list[str]:
    chosen = [chosen_letters(gold, _choices(task)) for gold in task.answers]
    return [letters[0] for letters in chosen if len(letters) == 1]


def _choices(task: Task) -> tuple[str, ...]:
    given = task.extra.get("choices", ())
    return tuple(map(str, given)) if isinstance(given, list | tuple) and len(given) <= 26 else ()


def _listed(task: Task) -> str:
    return ", ".join(map(repr, task.answers)) or "there is none"
