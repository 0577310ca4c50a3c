"""Judge of form alone, for a small reward beside the one that judges the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from jackfield.answers import tag_name
from jackfield.component import option
from jackfield.types import Rollout, Verdict


def _tag_names(tags: Any) -> str | None:
    return next(filter(None, (tag_name(tag) if tag else "holds an empty name" for tag in tags)), None)


@frozen(kw_only=True)
class Format:
    """1 if the tags of what the policy wrote are well formed, else 0 with the first thing that is wrong.

    Well formed: every tag named here is closed in the turn that opened it, none stands inside another, exactly one answer that is not
    empty stands at the very end (only white space after it), ``require_tool`` was written before it, and no tag of the environment was
    forged. It does not look at the gold answer, so give it a small ``weight``: a policy that is paid well for form alone stops looking
    for answers.
    """

    tags: tuple[str, ...] = option(("think", "search"), help="tags beside the answer's that must be well formed", check=_tag_names)
    answer_tag: str = option(
        "answer", help="exactly one, at the end", check=lambda tag: tag_name(tag) if tag else "must not be empty"
    )
    require_tool: str = option("", help="a tag that must occur before the answer, e.g. 'search'", check=tag_name)
    forged_tags: tuple[str, ...] = option(("information",), help="tags only the environment may write", check=_tag_names)

    def judge(self, rollout: Rollout) -> Verdict:
        wrong = self.fault([s.text for s in rollout.segments if s.writer == "policy"])
        return Verdict.score(float(wrong is None), reason=wrong or "well formed")

    def fault(self, turns: Sequence[str]) -> str | None:
        """What is wrong first in the texts of the policy's turns, None if nothing is."""
        names = {*self.tags, self.answer_tag, *self.forged_tags, self.require_tool} - {""}
        pattern = re.compile(rf"<(/?)({'|'.join(map(re.escape, sorted(names)))})>")
        complete: set[str] = set()
        after_answer = ""
        for text in turns:
            opened: re.Match[str] | None = None
            end = 0
            for found in pattern.finditer(text):
                closing, tag = found.groups()
                if tag in self.forged_tags:
                    return f"{found[0]} is not the policy's to write"
                if self.answer_tag in complete:
                    return f"{found[0]} after the answer"
                if opened is None and closing:
                    return f"{found[0]} closes nothing"
                if opened is None:
                    opened = found
                    continue
                if not closing or opened[2] != tag:
                    return f"{found[0]} inside {opened[0]}"
                if tag == self.answer_tag and not text[opened.end() : found.start()].strip():
                    return "the answer is empty"
                complete.add(tag)
                opened, end = None, found.end()
            if opened is not None:
                return f"{opened[0]} is not closed"
            if self.answer_tag in complete:
                after_answer += text[end:].strip()
        if self.answer_tag not in complete:
            return f"no <{self.answer_tag}>"
        if after_answer:
            return "text after the answer"
        if self.require_tool and self.require_tool not in complete:
            return f"no <{self.require_tool}> before the answer"
        return None
