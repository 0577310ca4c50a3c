"""Judge by a regular expression."""

from __future__ import annotations

from typing import Any, Literal

from attrs import frozen

from jackfield.answers import last_answer, tag_name
from jackfield.component import option, positive
from jackfield.types import Rollout, Verdict


def _expression(pattern: Any) -> str | None:
    import regex

    try:
        regex.compile(pattern)
    except regex.error as error:
        return f"is no regular expression: {error}"
    return None


@frozen(kw_only=True)
class Regex:
    """1 if a regular expression matches what the policy wrote, else 0.

    Searching is stopped after ``seconds`` (some expressions take for ever on some texts); that is an error, not a 0. The syntax is
    that of the library ``regex``, which has all of Python's ``re``; flags are written into the expression: ``(?is)…``.
    """

    pattern: str = option(help="the regular expression", check=_expression)
    match: Literal["search", "full"] = option("search", help="search: anywhere in the text; full: all of it")
    answer_tag: str = option(
        "", help='only the last complete <answer_tag>…</answer_tag> is looked at; "": all the policy wrote', check=tag_name
    )
    seconds: float = option(1.0, help="time for one text", check=positive)

    def judge(self, rollout: Rollout) -> Verdict:
        import regex

        text = last_answer(rollout, self.answer_tag) if self.answer_tag else rollout.completion
        if text is None:
            return Verdict.score(0.0, reason=f"no <{self.answer_tag}>…</{self.answer_tag}> in the completion")
        expression = regex.compile(self.pattern)
        look = expression.search if self.match == "search" else expression.fullmatch
        try:
            found = look(text, timeout=self.seconds)
        except TimeoutError:
            return Verdict.error(f"the pattern took more than {self.seconds:g} s on {len(text)} characters")
        return Verdict.score(
            float(found is not None), reason="matches" if found else "no match", parsed=found[0] if found else None
        )
