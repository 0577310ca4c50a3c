"""What tool calls are worth by themselves, each at the turn that made it."""

from __future__ import annotations

from collections import Counter

from attrs import frozen

from jackfield.component import at_least, option
from jackfield.types import Call, Rollout, Verdict


@frozen(kw_only=True)
class ToolCalls:
    """+``reward`` for a call that succeeded, −``cost`` for one that failed or that repeats an earlier one word for word.

    Every call counts at the turn that made it (``Verdict.turns``): an estimator that reads rewards where they lie (``gae``,
    ``monte_carlo``) credits that turn and those before it, one that compares whole rollouts (``group_norm``) their sum. Of each tool
    only the first ``most`` successes are rewarded, so that calling on and on does not pay. The call that ends a rollout as a
    ``tool_loop`` was not run; it counts as a repeated one.

    Add it with small numbers to a reward that judges the answer. Metric: ``repeated``, such calls a rollout.
    """

    reward: float = option(0.1, help="of a call that succeeded", check=at_least(0))
    cost: float = option(0.1, help="of a call that failed or repeats an earlier one", check=at_least(0))
    most: int = option(1, help="successful calls of one tool that are rewarded; further ones earn 0", check=at_least(0))

    def judge(self, rollout: Rollout) -> Verdict:
        """A score also where nothing was called: 0."""
        policy_turns = [s for s in rollout.segments if s.writer == "policy"]
        earned, told = [0.0] * len(policy_turns), []
        seen: set[tuple[str, str]] = set()
        succeeded: Counter[str] = Counter()
        repeated = 0
        for number, turn in enumerate(policy_turns):
            for call in turn.calls:
                again = (call.tool, call.text) in seen
                seen.add((call.tool, call.text))
                repeated += again
                succeeded[call.tool] += not again and call.failure is None
                earned[number] += self._worth(call, again=again, successes=succeeded[call.tool])
                told.append(f"{call.tool}{' again' if again else ' failed' if call.failure is not None else ''}")
        if rollout.finish.reason == "tool_loop" and earned:
            earned[-1] -= self.cost
            repeated += 1
            told.append(rollout.finish.detail or "a loop")
        return Verdict.score(sum(earned), reason="; ".join(told) or "no calls", turns=tuple(earned), repeated=float(repeated))

    def _worth(self, call: Call, *, again: bool, successes: int) -> float:
        if again or call.failure is not None:
            return -self.cost
        return self.reward if successes <= self.most else 0.0
