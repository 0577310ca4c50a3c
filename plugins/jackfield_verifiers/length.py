"""Costs of long answers, in tokens the policy wrote. Add them to a reward that judges the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from jackfield.component import at_least, option, positive
from jackfield.types import Rollout, Verdict

if TYPE_CHECKING:
    from jackfield.corridor import Corridor


class Cost:
    """A reward that is never above 0."""

    def check_recipe(self, corridor: Corridor) -> list[str]:
        """Why the recipe cannot use it so."""
        gates: list[object] = [named.part for named in corridor.rewards if named.gate]
        return ["gate = true would always be shut: this reward is 0 at best, and a gate opens above 0"] if self in gates else []


@frozen(kw_only=True)
class Length(Cost):
    """−cost × the policy tokens beyond ``target``; 0 up to it. Tokens of the prompt and of observations are free."""

    cost: float = option(help="of one token", check=positive)
    target: int = option(0, help="tokens that are free", check=at_least(0))

    def judge(self, rollout: Rollout) -> Verdict:
        beyond = max(0, rollout.num_policy_tokens - self.target)
        return Verdict.score(-self.cost * beyond, reason=f"{rollout.num_policy_tokens} tokens, {beyond} above {self.target}")


@frozen(kw_only=True)
class Overlong(Cost):
    """Soft over-long punishment (DAPO, arXiv 2503.14476, eq. 13): for a rollout of n policy tokens

    0 if n ≤ max_tokens − cache; (max_tokens − cache − n) / cache up to max_tokens; −1 above.
    """

    max_tokens: int = option(help="policy tokens from which the whole punishment falls due", check=at_least(1))
    cache: int = option(help="the last so many of them cost more and more", check=at_least(1))

    def __attrs_post_init__(self) -> None:
        if self.cache > self.max_tokens:
            raise ValueError(f"cache: must not be above max_tokens = {self.max_tokens}, found {self.cache}")

    def judge(self, rollout: Rollout) -> Verdict:
        tokens, free = rollout.num_policy_tokens, self.max_tokens - self.cache
        if tokens <= free:
            return Verdict.score(0.0, reason=f"{tokens} tokens, free up to {free}")
        return Verdict.score(max(-1.0, (free - tokens) / self.cache), reason=f"{tokens} tokens, {tokens - free} above {free}")
