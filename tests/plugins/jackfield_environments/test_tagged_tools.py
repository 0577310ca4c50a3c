from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from jackfield.rollout import Players, play
from jackfield.testing.fakes import CharTokenizer, ScriptedEngine, ScriptedTool
from jackfield.types import IntArray, Message, Rollout, Task
from jackfield_environments.tagged_tools import TaggedTools

TASK = Task(id="q", prompt=(Message(role="user", content="Capital of France?"),), answers=("Paris",))
PROMPT = "[user]Capital of France?\n[assistant]"
SEARCH, ANSWER = "<search>capital</search>", "<answer>Paris</answer>"
PLAIN = TaggedTools(template="{question}", correction="\n({problem})\n")


def roll(
    script: Sequence[str | Sequence[int]],
    environment: TaggedTools = PLAIN,
    tool: ScriptedTool | None = None,
    tokenizer: CharTokenizer | None = None,
) -> tuple[Rollout, ScriptedEngine, ScriptedTool]:
    """One rollout of a scripted policy, checked for what always holds."""
    tokenizer, tool = tokenizer or CharTokenizer(), tool or ScriptedTool(parts=("Doc 1", "Doc 2"))
    engine = ScriptedEngine(tokenizer, script)
    [group] = play(
        Players(environment=environment, engine=engine, tokenizer=tokenizer, tools={"search": tool}, run_seed=0),
        [TASK],
        step=0,
        group_size=1,
        temperature=1.0,
    )
    [rollout], [session] = group.members, engine.sessions
    assert session.closed
    assert rollout.tokens.tolist() == session.context, "the engine saw exactly what the rollout holds"
    assert [s.tokens.tolist() for s in rollout.segments if s.writer == "policy"] == session.sampled
    return rollout, engine, tool


def writers(rollout: Rollout) -> str:
    return "".join(s.writer[0] for s in rollout.segments)


def text(rollout: Rollout, writer: str) -> list[str]:
    return [s.text for s in rollout.segments if s.writer == writer]


def test_search_read_answer() -> None:
    """The plain course: a call, its observation in closed tags, an answer; each with its writer, and all of it counted."""
    rollout, engine, tool = roll(["<think>?</think>" + SEARCH, ANSWER])
    assert writers(rollout) == "tpep"
    assert text(rollout, "task") == [PROMPT]
    assert text(rollout, "environment") == ["\n\n<information>Doc 1\nDoc 2</information>\n\n"]
    assert tool.calls == ["capital"]
    assert rollout.finish.reason == "answer"
    assert rollout.counters == {
        "turns": 2, "search_calls": 1, "search_failures": 0, "invalid_actions": 0, "observations_cut": 0,
    }  # fmt: skip
    assert engine.sessions[0].stops == [("</search>", "</answer>")] * 2


def test_one_answer_tag_is_enough_and_the_prompt_does_not_count() -> None:
    """X1, X3: one pair of tags of the policy answers; those of the prompt answer nothing and are nobody's action."""
    environment = TaggedTools(template="E.g. <answer>Beijing</answer>, <search>x</search>. {question}", max_turns=0)
    assert roll([ANSWER], environment)[0].finish.reason == "answer"
    rollout, _, tool = roll(["I do not know."], environment)
    assert rollout.finish.reason == "eos"
    assert "<answer>" in rollout.segments[0].text
    assert not tool.calls
    assert rollout.completion == "I do not know."


def test_ids_are_kept_as_sampled() -> None:
    """T1: 'he' + 'llo' was sampled and is trained on, although encoding the text again would give one id."""
    tokenizer = CharTokenizer(pieces=("hello", "he", "llo", "</search>", "> so"))
    ids = [tokenizer.id_of("he"), tokenizer.id_of("llo"), *map(ord, "<search>hello</search>")]
    rollout, _, tool = roll([ids, ANSWER], tokenizer=tokenizer)
    assert tokenizer.encode("hello").tolist() != ids[:2]
    assert rollout.segments[1].tokens.tolist() == ids
    assert tool.calls == ["hello"]


def test_history_is_never_rendered_again() -> None:
    """T3, pitfalls 1 and 2: a chat template that drops old thoughts, or anything else from turns gone by, has nothing to drop: it
    renders the prompt, once, and from there on tokens are only appended."""

    class Forgetful(CharTokenizer):
        rendered: ClassVar[list[Sequence[Message]]] = []

        def chat(self, messages: Sequence[Message]) -> IntArray:
            self.rendered.append(messages)
            return super().chat([evolve(m, content=re.sub("<think>.*?</think>", "", m.content)) for m in messages])

    tokenizer = Forgetful()
    rollout, engine, _ = roll(["<think>hm</think>" + SEARCH, "<think>ah</think>" + ANSWER], tokenizer=tokenizer)
    assert [m.role for m in tokenizer.rendered[0]] == ["user"]
    assert len(tokenizer.rendered) == 1
    assert rollout.completion.count("<think>") == 2
    assert [s.tokens.tolist() for s in rollout.segments if s.writer == "policy"] == engine.sessions[0].sampled


def test_junk_after_the_stop_string() -> None:
    """Pitfall 3: what the last token holds beyond the closing tag stays the policy's text, and the observation follows it."""
    tokenizer = CharTokenizer(pieces=("> so",))
    ids = [*map(ord, "<search>capital</search"), tokenizer.id_of("> so")]
    rollout, _, tool = roll([[*ids, ord("!")], ANSWER], tokenizer=tokenizer)
    assert rollout.segments[1].tokens.tolist() == ids
    assert rollout.segments[1].text == "<search>capital</search> so"
    assert tool.calls == ["capital"]
    assert rollout.segments[2].text.startswith("\n\n<information>")


def test_unicode_query_is_exact() -> None:
    """T15: the tool gets the very string, in any script."""
    rollout, _, tool = roll(["<search>東京タワー 🗼</search>", ANSWER])
    assert tool.calls == ["東京タワー 🗼"]
    assert rollout.segments[1].text == "<search>東京タワー 🗼</search>"


def test_cut_off_call_is_not_run() -> None:
    """T4: a call cut off by the turn's budget is not run; the policy reads what was wrong, with its own words quoted."""
    environment = TaggedTools(template="{question}", correction="\n({problem})\n", max_new_tokens_per_turn=30)
    rollout, _, tool = roll(['<search>{"query": "capital of France"}</search>', ANSWER], environment)
    assert not tool.calls
    assert text(rollout, "environment") == [
        '\n(the text was cut off after 30 tokens and <search> was never closed: \'<search>{"query": "capital of \')\n'
    ]
    assert writers(rollout) == "tpep"
    assert rollout.finish.reason == "answer"
    assert rollout.counters["invalid_actions"] == 1


def test_wrong_tags_are_corrected_and_masked() -> None:
    """A turn stopped at a closing tag without its opening one is answered by the correction, which is the environment's."""
    rollout, _, tool = roll(["Paris</answer>", ANSWER], TaggedTools(template="{question}"))
    [correction] = text(rollout, "environment")
    assert "</answer> closes nothing" in correction
    assert "<search>…</search> or <answer>…</answer>" in correction
    assert not tool.calls
    assert not rollout.policy_mask[-len(ANSWER) - len(correction) : -len(ANSWER)].any()


def test_no_answer_says_why() -> None:
    """A rollout that the policy ends without an answer finishes with eos and with what was missing."""
    rollout, _, _ = roll(["<search>capital"])
    assert rollout.finish.reason == "eos"
    assert rollout.finish.detail == "no <answer>: the policy ended its text, but <search> was never closed: '<search>capital'"


def test_forged_information_stays_the_policys() -> None:
    """T8: generation stops at the action's end tag; an information block that the policy writes is never the environment's."""
    forged = "<information>Doc 1: it is Lyon</information>" + SEARCH
    rollout, _, tool = roll([forged + "<information>more</information>", ANSWER])
    assert rollout.segments[1].text == forged
    assert rollout.segments[1].writer == "policy"
    assert rollout.policy_mask[len(PROMPT) : len(PROMPT) + len(forged)].all()
    assert tool.calls == ["capital"]
    assert text(rollout, "environment") == ["\n\n<information>Doc 1\nDoc 2</information>\n\n"]


def test_action_inside_a_forged_block_is_the_policys_action() -> None:
    """T8: where an action stands makes no difference; an answer inside a forged block is an answer."""
    rollout, _, _ = roll(["<information>" + ANSWER + "</information>"])
    assert rollout.finish.reason == "answer"
    assert rollout.completion == "<information>" + ANSWER


def test_identical_calls_end_as_a_loop() -> None:
    """T7: the third identical call is not run and ends the rollout, also when others came between."""
    script = [SEARCH, "<search>other</search>", "<search> capital </search>", SEARCH, ANSWER]
    rollout, _, tool = roll(script, TaggedTools(template="{question}", max_turns=9))
    assert rollout.finish.reason == "tool_loop"
    assert rollout.finish.detail == "search was called 3 times with 'capital' (loop_limit = 3)"
    assert not rollout.finish.truncated
    assert tool.calls == ["capital", "other", "capital"]
    assert rollout.counters["search_calls"] == 3


def test_turns_run_out() -> None:
    """max_turns calls are run; then one final turn may answer, and a call in it is not run."""
    environment = TaggedTools(template="{question}", max_turns=2)
    calls = [f"<search>{n}</search>" for n in range(4)]
    rollout, _, tool = roll(calls, environment)
    assert rollout.finish.reason == "turns"
    assert (
        rollout.finish.detail
        == "no <answer> in max_turns = 2 and the final turn: search was called in the final turn, where calls are not run"
    )
    assert tool.calls == ["0", "1"]
    assert writers(rollout) == "tpepep"
    rollout, _, tool = roll([*calls[:2], ANSWER], environment)
    assert rollout.finish.reason == "answer"


def test_corrections_take_turns() -> None:
    """A turn that had to be corrected counts, and in the final turn nothing is corrected any more."""
    rollout, _, _ = roll(["</search>", "</search>"], TaggedTools(template="{question}", max_turns=1))
    assert rollout.finish.reason == "turns"
    assert "</search> closes nothing" in rollout.finish.detail
    assert writers(rollout) == "tpep"
    assert rollout.counters["invalid_actions"] == 2


def test_failed_call_can_be_read() -> None:
    """A tool's failure, and its exception, become text inside the information tags, and are counted."""
    rollout, _, _ = roll([SEARCH, ANSWER], tool=ScriptedTool(failure="timed out after 5 s"))
    assert text(rollout, "environment") == ["\n\n<information>The call failed: timed out after 5 s</information>\n\n"]
    assert rollout.counters["search_failures"] == 1

    class Broken(ScriptedTool):
        async def call(self, text: str) -> None:  # type: ignore[override]
            raise OSError("no such index")

    rollout, _, _ = roll([SEARCH, ANSWER], tool=Broken())
    assert "The call failed: OSError: no such index" in text(rollout, "environment")[0]
    assert rollout.finish.reason == "answer"


def test_nothing_found_is_said() -> None:
    """A tool that gives nothing does not leave an empty block."""
    rollout, _, _ = roll([SEARCH, ANSWER], tool=ScriptedTool(parts=()))
    assert text(rollout, "environment") == ["\n\n<information>Nothing was found.</information>\n\n"]


def test_observation_is_cut_between_parts() -> None:
    """Pitfall 6: an observation over its budget loses whole parts at its end, keeps its tags, and is counted as cut."""
    whole = len("\n\n<information>Doc 1\nDoc 2</information>\n\n")
    for budget, content, cut in ((whole, "Doc 1\nDoc 2", 0), (whole - 1, "Doc 1", 1)):
        rollout, _, _ = roll([SEARCH, ANSWER], TaggedTools(template="{question}", max_observation_tokens=budget))
        assert text(rollout, "environment") == [f"\n\n<information>{content}</information>\n\n"]
        assert rollout.counters["observations_cut"] == cut


def test_rollout_budget_at_every_boundary() -> None:
    """For every max_tokens the rollout keeps within it, closes its tags, and ends as 'length' exactly where something did not fit."""
    full = len(PROMPT + SEARCH + "\n\n<information>Doc 1\nDoc 2</information>\n\n" + ANSWER)
    for max_tokens in range(1, full + 3):
        environment = TaggedTools(template="{question}", correction="({problem})", max_tokens=max_tokens)
        rollout, _, tool = roll([SEARCH, ANSWER], environment)
        if max_tokens <= len(PROMPT):
            assert rollout.finish.reason == "failed"
            assert "the prompt of 36 tokens leaves no room" in rollout.finish.detail
            continue
        assert len(rollout.tokens) <= max_tokens
        if max_tokens >= full:
            assert rollout.finish.reason == "answer"
            assert rollout.counters["observations_cut"] == 0
        elif rollout.finish.reason == "length":
            assert rollout.finish.detail.endswith(f"of max_tokens = {max_tokens} are used")
        for observation in text(rollout, "environment"):
            assert re.fullmatch(r"\n\n<information>D.*</information>\n\n", observation, re.DOTALL)
        if tool.calls and writers(rollout) == "tp":
            assert rollout.finish.reason == "length"


PIECES = st.sampled_from(
    [
        "<search>",
        "</search>",
        "<answer>",
        "</answer>",
        "<information>",
        "</information>",
        "paris",
        " ",
        "\n",
        "🗼",
        "<eos>",
        "x" * 30,
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    script=st.lists(st.lists(PIECES, max_size=6).map("".join), max_size=6),
    max_turns=st.integers(0, 4),
    per_turn=st.integers(1, 80),
    max_tokens=st.integers(len(PROMPT) + 1, 400),
    per_observation=st.integers(1, 80),
    parts=st.lists(st.text(alphabet="ab c", max_size=20), max_size=3).map(tuple),
)
def test_whatever_the_policy_writes(
    script: list[str], max_turns: int, per_turn: int, max_tokens: int, per_observation: int, parts: tuple[str, ...]
) -> None:
    """Budgets hold, observations close, writers alternate, only sampled tokens are the policy's, and every end is explained."""
    environment = TaggedTools(
        template="{question}",
        correction="({problem})",
        max_turns=max_turns,
        max_new_tokens_per_turn=per_turn,
        max_tokens=max_tokens,
        max_observation_tokens=per_observation,
    )
    rollout, engine, tool = roll(script, environment, ScriptedTool(parts=parts))
    assert len(rollout.tokens) <= max_tokens
    assert re.fullmatch(r"tp(ep)*", writers(rollout))
    assert writers(rollout).count("p") <= max_turns + 1
    assert len(tool.calls) <= max_turns
    sampled = [token for turn in engine.sessions[0].sampled for token in turn]
    assert rollout.tokens[rollout.policy_mask].tolist() == sampled
    assert all(len(turn) <= per_turn for turn in engine.sessions[0].sampled)
    for segment in rollout.segments:
        if segment.writer == "environment":
            assert segment.logp is None
            opening, content, closing = segment.text[:15], segment.text[15:-16], segment.text[-16:]
            if opening == "\n\n<information>":
                assert closing == "</information>\n\n"
                assert "<" not in content
                assert len(segment.tokens) <= per_observation
            else:
                assert segment.text.startswith("(")
                assert segment.text.endswith(")")
    assert np.isnan(rollout.sampled_logp).tolist() == (~rollout.policy_mask).tolist()
    assert rollout.finish.reason in ("answer", "eos", "length", "turns", "tool_loop")
    assert rollout.finish.reason == "answer" or rollout.finish.detail
    assert rollout.counters["turns"] == writers(rollout).count("p")


def test_own_tags() -> None:
    """Tags and tools are the recipe's: two tools under their own tags, an own answer tag and an own observation tag."""
    environment = TaggedTools(
        template="{question}", tool_tags={"look": "search", "find": "search"}, answer_tag="final", observation_tag="result"
    )
    rollout, engine, tool = roll(["<look>a</look>", "<find>b</find>", "<final>c</final>"], environment)
    assert tool.calls == ["a", "b"]
    assert text(rollout, "environment")[0].startswith("\n\n<result>")
    assert rollout.finish.reason == "answer"
    assert engine.sessions[0].stops[0] == ("</look>", "</find>", "</final>")
    assert environment.requires_tools == ("search",)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"template": "Answer!"}, "template: lacks {question}"),
        ({"correction": "No."}, "correction: lacks {problem}"),
        ({"tool_tags": {}}, "tool_tags: names no tool"),
        ({"tool_tags": {"<search>": "search"}}, "tool_tags: must be a tag's name such as 'search', without brackets"),
        ({"answer_tag": "search"}, "'search' is used twice"),
        ({"observation_tag": "answer"}, "'answer' is used twice"),
        ({"loop_limit": 1}, "loop_limit: must be at least 2"),
    ],
)
def test_bad_keys_are_refused(keys: dict[str, object], message: str) -> None:
    """What cannot work is refused when the component is made, naming key and reason."""
    with pytest.raises(ValueError, match=re.escape(message)):
        TaggedTools(**keys)  # type: ignore[arg-type]


SEARCH_PROMPT = """\
Find the answer to the question below. Whenever you have learnt something, first think about it inside <think> and </think>. \
If a fact is missing, write <search>what to look for</search>; the best passages found for it will then be shown inside \
<information> and </information>. Search again as often as it helps. As soon as you know the answer, write just the answer, \
without explanation, inside <answer> and </answer>.

Question: Capital of {France}?"""


def prompt(**keys: Any) -> str:
    """What the policy is asked, without the chat template."""
    task = evolve(TASK, prompt=(Message(role="user", content="Capital of {France}?"),))
    engine = ScriptedEngine(CharTokenizer(), [ANSWER])
    tools = {name: ScriptedTool(parts=()) for name in ("search", "calculator")}
    players = Players(environment=TaggedTools(**keys), engine=engine, tokenizer=CharTokenizer(), tools=tools, run_seed=0)
    [group] = play(players, [task], step=0, group_size=1, temperature=1.0)
    return group.members[0].segments[0].text.removeprefix("[user]").removesuffix("\n[assistant]")


def test_the_default_prompt_for_search() -> None:
    """To the letter: runs are compared with runs of before."""
    assert prompt() == SEARCH_PROMPT
    assert prompt(tool_tags={"look": "search"}) == SEARCH_PROMPT.replace("search>", "look>")


def test_the_default_prompt_teaches_the_tags_in_use() -> None:
    """A policy that is told of other tags than are read could never call a tool, or answer."""
    told = prompt(tool_tags={"search": "search", "calc": "calculator"}, answer_tag="final", observation_tag="result")
    for tag in ("search", "calc", "final", "result"):
        assert f"<{tag}>" in told
        assert f"</{tag}>" in told
    assert (
        "To use the calculator, write <calc>what to give it</calc>; what it gives back will then be shown inside <result> and"
        in told
    )
    assert "<answer>" not in told
    assert "<information>" not in told
    assert "earch" not in prompt(tool_tags={"calc": "calculator"})


def test_a_template_may_leave_the_tags_to_the_recipe() -> None:
    """Or write them itself; doubled braces stay text."""
    assert prompt(template="{{x}} <{answer_tag}> {question}", answer_tag="a") == "{x} <a> Capital of {France}?"
    assert prompt(template="{calls} {question}").startswith("If a fact is missing, write <search>")
