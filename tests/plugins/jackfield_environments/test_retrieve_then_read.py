from __future__ import annotations

import numpy as np
import pytest
from attrs import define, evolve, field

from jackfield.rollout import Players, play
from jackfield.testing.fakes import CharTokenizer, ScriptedEngine
from jackfield.types import Message, Observation, Rollout, Task
from jackfield_environments.retrieve_then_read import RetrieveThenRead

TASK = Task(id="q", prompt=(Message(role="user", content="Capital of Peru?"),), answers=("Lima",))
ANSWER = "<answer>Lima</answer>"
PLAIN = RetrieveThenRead(template="{information}\n{question}", max_new_tokens=99, stop=("</answer>",))


@define
class Echo:
    """Finds two documents that say what was asked."""

    name: str = "search"
    failure: str | None = None
    calls: list[str] = field(factory=list)

    def prepare(self) -> None:
        """Nothing to build."""

    async def call(self, text: str) -> Observation:
        self.calls.append(text)
        return Observation(failure=self.failure) if self.failure else Observation(parts=(f"Doc 1 {text}", "Doc 2"))


def roll(environment: RetrieveThenRead = PLAIN, tool: Echo | None = None, answer: str = ANSWER) -> tuple[Rollout, Echo]:
    tool, tokenizer = tool or Echo(), CharTokenizer()
    engine = ScriptedEngine(tokenizer, [answer])
    players = Players(environment=environment, engine=engine, tokenizer=tokenizer, tools={tool.name: tool}, run_seed=0)
    [group] = play(players, [TASK], step=0, group_size=1, temperature=1.0)
    [rollout], [session] = group.members, engine.sessions
    assert session.closed
    assert rollout.tokens.tolist() == session.context, "the engine saw exactly what the rollout holds"
    return rollout, tool


def test_found_read_answered() -> None:
    """The question itself is searched for, before the policy writes anything; what was found is the task's, the answer the policy's."""
    rollout, tool = roll()
    assert tool.calls == ["Capital of Peru?"]
    assert [(s.writer, s.text) for s in rollout.segments] == [
        ("task", "[user]<information>Doc 1 Capital of Peru?\nDoc 2</information>\nCapital of Peru?\n[assistant]"),
        ("policy", ANSWER),
    ]
    prompt = len(rollout.segments[0].tokens)
    assert rollout.policy_mask.tolist() == [False] * prompt + [True] * len(ANSWER)
    assert np.isnan(rollout.sampled_logp[:prompt]).all()
    assert rollout.finish.reason == "answer"
    assert rollout.counters == {"turns": 1, "search_calls": 1, "search_failures": 0, "observations_cut": 0}


def test_examples_look_as_the_question_does() -> None:
    """Worked examples are searched for too, and come first, in their order."""
    examples = {"Capital of Cuba?": "Havana", "Capital of Togo?": "Lomé"}
    rollout, tool = roll(RetrieveThenRead(template="{information} {question}", examples=examples, max_new_tokens=99))
    assert tool.calls == ["Capital of Cuba?", "Capital of Togo?", "Capital of Peru?"]
    assert rollout.segments[0].text == (
        "[user]<information>Doc 1 Capital of Cuba?\nDoc 2</information> Capital of Cuba?\n[assistant]Havana\n"
        "[user]<information>Doc 1 Capital of Togo?\nDoc 2</information> Capital of Togo?\n[assistant]Lomé\n"
        "[user]<information>Doc 1 Capital of Peru?\nDoc 2</information> Capital of Peru?\n[assistant]"
    )
    assert [s.writer for s in rollout.segments] == ["task", "policy"]
    assert rollout.counters["search_calls"] == 3


def test_what_does_not_fit_is_cut_and_tags_close() -> None:
    """55 tokens hold the tags, their blank lines and the first document only; 20 hold nothing, and the question stands alone."""
    for budget, shown in ((55, "<information>Doc 1 Capital of Peru?</information>"), (20, "")):
        cutting = RetrieveThenRead(template="{information}{question}", max_new_tokens=99, max_observation_tokens=budget)
        rollout, _ = roll(cutting)
        assert rollout.segments[0].text == f"[user]{shown}Capital of Peru?\n[assistant]"
        assert rollout.counters["observations_cut"] == 1


def test_a_prompt_that_may_leave_no_room() -> None:
    """Told before the run, when nobody knows yet what will be found: every question, the examples' too, may fill its budget."""
    bare = "[user] Capital of Cuba?\n[assistant]Havana\n[user] Capital of Peru?\n[assistant]"
    room = RetrieveThenRead(
        template="{information} {question}",
        examples={"Capital of Cuba?": "Havana"},
        max_observation_tokens=70,
        max_new_tokens=9,
        max_tokens=len(bare) + 2 * 70 + 9,
    )
    assert room.check_task(TASK, CharTokenizer()) is None
    assert evolve(room, max_new_tokens=10).check_task(TASK, CharTokenizer()) is not None


def test_a_failed_search_is_a_failed_rollout() -> None:
    """Else the members of a group would be compared although they read other things. It is counted, and says why."""
    tokenizer, tool = CharTokenizer(), Echo(failure="timed out")
    engine = ScriptedEngine(tokenizer, [ANSWER])
    players = Players(environment=PLAIN, engine=engine, tokenizer=tokenizer, tools={tool.name: tool}, run_seed=0)
    [[rollout]] = play(players, [TASK], step=0, group_size=1, temperature=1.0)
    assert (rollout.finish.reason, rollout.finish.detail) == ("failed", "search failed: timed out")
    assert rollout.counters["search_failures"] == 1
    assert rollout.num_policy_tokens == 0


def test_it_ends_as_a_single_turn_does() -> None:
    """EOS and a spent budget are told apart."""
    assert roll(answer="Lima")[0].finish.reason == "eos"
    rollout, _ = roll(RetrieveThenRead(max_new_tokens=3), answer="Lima")
    assert (rollout.finish.reason, rollout.completion) == ("length", "Lim")


def test_another_tool() -> None:
    """The recipe says whose passages are read, and must list that tool."""
    environment = RetrieveThenRead(tool="encyclopedia", max_new_tokens=99)
    assert environment.requires_tools == ("encyclopedia",)
    rollout, _ = roll(environment, Echo(name="encyclopedia"))
    assert rollout.counters["encyclopedia_calls"] == 1


@pytest.mark.parametrize(
    ("template", "wrong"),
    [("{question}", "lacks {information}"), ("{information}", "lacks {question}"), ("{question} {information} {x}", "{x}")],
)
def test_the_template_holds_both(template: str, wrong: str) -> None:
    """A template without a place for the passages would make it another baseline."""
    with pytest.raises(ValueError, match="template: .*" + wrong.replace("{", r"\{")):
        RetrieveThenRead(template=template, max_new_tokens=9)
