from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from jackfield.corridor import Named
from jackfield.testing.contracts import check_reward
from jackfield.types import Finish, Rollout, Segment, Task, Verdict
from jackfield_verifiers.length import Length, Overlong


def rollout(*policy_tokens: int) -> Rollout:
    """Prompt and observations of 100 tokens each around turns of so many."""
    segments = [Segment(tokens=np.arange(100), writer="task")]
    for count in policy_tokens:
        segments += [Segment(tokens=np.arange(count), writer="policy"), Segment(tokens=np.arange(100), writer="environment")]
    return Rollout(task=Task(id="t", prompt=()), member=0, segments=tuple(segments), finish=Finish(reason="eos"))


def test_length() -> None:
    """Every policy token beyond the target costs; others are free."""
    judge = Length(cost=0.01, target=10)
    assert judge.judge(rollout(4, 6)) == Verdict.score(0.0, "10 tokens, 0 above 10")
    assert judge.judge(rollout(10, 5)).value == pytest.approx(-0.05, abs=1e-15)
    assert judge.judge(rollout(10, 5)).reason == "15 tokens, 5 above 10"


@pytest.mark.parametrize(
    ("tokens", "value"), [(0, 0), (12, 0), (13, -0.25), (14, -0.5), (15, -0.75), (16, -1), (17, -1), (1000, -1)]
)
def test_overlong(tokens: int, value: float) -> None:
    """DAPO's equation 13 with L_max = 16 and L_cache = 4, by hand."""
    assert Overlong(max_tokens=16, cache=4).judge(rollout(tokens)).value == value


def test_overlong_at_the_size_of_the_paper() -> None:
    """L_max = 20480, L_cache = 4096: nothing up to 16384, half at 18432."""
    judge = Overlong(max_tokens=20480, cache=4096)
    assert [judge.judge(rollout(n)).value for n in (16384, 18432, 20480, 20481)] == [0, -0.5, -1, -1]


def test_the_cache_lies_within() -> None:
    """A cache longer than all tokens would punish from below zero."""
    with pytest.raises(ValueError, match="cache: must not be above max_tokens = 16, found 17"):
        Overlong(max_tokens=16, cache=17)


def test_contracts() -> None:
    """Judges anything quickly."""
    check_reward(Length(cost=0.1))
    check_reward(Overlong(max_tokens=16, cache=4))


def test_a_cost_is_no_gate() -> None:
    """A gate opens above 0, which no cost ever is."""
    for cost in (Length(cost=0.1), Overlong(max_tokens=16, cache=4)):
        gate, part = (SimpleNamespace(rewards=(Named(name="cost", part=cost, gate=gate),)) for gate in (True, False))
        [problem] = cost.check_recipe(gate)  # type: ignore[arg-type]
        assert "always be shut" in problem
        assert cost.check_recipe(part) == []  # type: ignore[arg-type]
